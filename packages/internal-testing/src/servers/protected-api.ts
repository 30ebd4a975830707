import {
  json,
  startScriptedServer,
  type ReceivedRequest,
  type ScriptedResponse,
  type ScriptedServer,
} from './scripted-server.ts'

/** An API that rejects requests without a token, and those with a token that a test declares revoked. */
export interface ProtectedApi extends ScriptedServer {
  /** Whether a token is revoked. Assign another function at any time. @default no token is revoked */
  rejects: (token: string) => boolean
  /** The tokens of the requests so far; undefined for a request without one. */
  readonly tokens: readonly (string | undefined)[]
}

/** The challenge of a rejected token (RFC 6750, section 3). */
export const invalidTokenChallenge = 'Bearer realm="api", error="invalid_token"'

/** Starts a protected API on a free port of the loopback address. */
export async function startProtectedApi(): Promise<ProtectedApi> {
  const server = await startScriptedServer((request): ScriptedResponse => {
    const token = tokenOf(request)
    return token === undefined || api.rejects(token)
      ? json({ rejected: api.requests.length }, 401, { 'www-authenticate': invalidTokenChallenge })
      : json({ accepted: true })
  })
  const api: ProtectedApi = Object.defineProperty(Object.assign(server, { rejects: () => false }), 'tokens', {
    get: () => server.requests.map(tokenOf),
  }) as never
  return api
}

function tokenOf({ headers }: ReceivedRequest): string | undefined {
  return /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1]
}
