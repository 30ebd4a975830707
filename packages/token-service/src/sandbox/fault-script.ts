import { introspectionPath, jwksPath, revocationPath, tokenPath } from '../oauth/endpoint-paths.ts'
import { z } from 'zod'
import { jwtFlaws } from './flawed-jwt.ts'

/** Written by the server itself; another value breaks the connection, or is rejected by Node. */
const framingHeaders = [
  'connection',
  'content-length',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]

/** A fault that is injected into the next matching requests. */
export const faultSchema = z
  .strictObject({
    /** @default 'token' */
    endpoint: z.enum(['token', 'introspection', 'revocation', 'keys']).default('token'),
    /** Only requests of this client. @default all clients */
    clientId: z.string().min(1).optional(),
    /** The number of requests. @default 1 */
    requests: z.int().min(1).max(1_000_000).default(1),
    /** A delay before the response, in milliseconds. */
    latencyMs: z.number().min(0).max(600_000).optional(),
    /** The status to respond with. */
    status: z.int().min(200).max(599).optional(),
    headers: z
      .record(z.string().regex(/^[\w-]+$/), z.string().regex(/^[\x20-\x7e]*$/, 'must be printable ASCII'))
      .refine(
        (headers) => !Object.keys(headers).some((name) => framingHeaders.includes(name.toLowerCase())),
        `must not contain ${framingHeaders.join(', ')}, which the server sets; use drop or truncateAfterBytes for a broken response`,
      )
      .optional(),
    /** A string is sent as text, anything else as JSON. */
    body: z.json().optional(),
    /** Closes the connection without a response. */
    drop: z.boolean().optional(),
    /** Closes the connection after that many bytes of the response body. */
    truncateAfterBytes: z.int().min(0).optional(),
    /** What is wrong with the token of an application that gets JWTs. */
    jwt: z.enum(jwtFlaws).optional(),
  })
  .refine(
    ({ latencyMs, status, body, drop, truncateAfterBytes, jwt }) =>
      [latencyMs, status, body, truncateAfterBytes, jwt].some((effect) => effect !== undefined) ||
      drop === true,
    'must contain at least one of latencyMs, status, body, drop, truncateAfterBytes and jwt',
  )

export type Fault = z.output<typeof faultSchema>

const paths = {
  token: tokenPath,
  introspection: introspectionPath,
  revocation: revocationPath,
  keys: jwksPath,
}

export type ScriptedFault = Fault & { readonly id: number; remaining: number }

export interface FaultScript {
  add(fault: Fault): ScriptedFault
  /** The first fault that matches the request; counts it. */
  take(path: string, clientId: string | undefined): ScriptedFault | undefined
  /** The faults that have requests left. */
  pending(): ScriptedFault[]
  reset(): void
}

export function createFaultScript(): FaultScript {
  let faults: ScriptedFault[] = []
  let lastId = 0
  return {
    add(fault) {
      lastId += 1
      const scripted = { ...fault, id: lastId, remaining: fault.requests }
      faults.push(scripted)
      return scripted
    },
    take(path, clientId) {
      const fault = faults.find(
        (each) => paths[each.endpoint] === path && (each.clientId ?? clientId) === clientId,
      )
      if (!fault) return undefined
      fault.remaining -= 1
      if (fault.remaining === 0) faults = faults.filter((each) => each !== fault)
      return fault
    },
    pending: () => faults,
    reset() {
      faults = []
    },
  }
}
