import { z } from 'zod'

const paths = {
  token: '/oauth/client_credential/accesstoken',
  introspection: '/oauth/introspect',
  revocation: '/oauth/revoke',
}

/** What shall go wrong with the next requests that match. */
export const faultSchema = z
  .strictObject({
    /** @default 'token' */
    endpoint: z.enum(['token', 'introspection', 'revocation']).default('token'),
    /** Only this client's requests. @default everybody's */
    clientId: z.string().min(1).optional(),
    /** How many of them. @default 1 */
    requests: z.int().min(1).max(1_000_000).default(1),
    /** Waits first, in milliseconds. */
    latencyMs: z.number().min(0).max(600_000).optional(),
    /** Answers with this instead. */
    status: z.int().min(200).max(599).optional(),
    headers: z.record(z.string().regex(/^[\w-]+$/), z.string().regex(/^[\x20-\x7e]*$/)).optional(),
    /** Text as it is, anything else as JSON. */
    body: z.json().optional(),
    /** Hangs up without an answer. */
    drop: z.boolean().optional(),
    /** Hangs up after that many bytes of the answer's body. */
    truncateAfterBytes: z.int().min(0).optional(),
  })
  .refine(
    ({ latencyMs, status, body, drop, truncateAfterBytes }) =>
      [latencyMs, status, body, truncateAfterBytes].some((effect) => effect !== undefined) || drop === true,
    'give at least one of latencyMs, status, body, drop, truncateAfterBytes',
  )

export type Fault = z.output<typeof faultSchema>
export type ScriptedFault = Fault & { readonly id: number; remaining: number }

export interface FaultScript {
  add(fault: Fault): ScriptedFault
  /** The first fault that is meant for such a request, used up by one. */
  take(path: string, clientId: string | undefined): ScriptedFault | undefined
  /** Those that wait for requests. */
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
