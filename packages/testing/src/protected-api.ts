import {
  json,
  startScriptedServer,
  type ScriptedAnswer,
  type ScriptedServer,
  type SeenRequest,
} from './scripted-server.ts'

/** An API that refuses a request without a token, and one whose token was revoked (RFC 6750, section 3). */
export interface ProtectedApi extends ScriptedServer {
  /** Tokens to refuse, or a rule. */
  refuses: (token: string) => boolean
  /** The tokens of the requests seen; undefined for one without. */
  readonly tokens: readonly (string | undefined)[]
}

export const invalidToken = 'Bearer realm="api", error="invalid_token"'

export async function startProtectedApi(): Promise<ProtectedApi> {
  const server = await startScriptedServer((request): ScriptedAnswer => {
    const token = tokenOf(request)
    return token === undefined || api.refuses(token)
      ? json({ refused: api.requests.length }, 401, { 'www-authenticate': invalidToken })
      : json({ accepted: true })
  })
  const api: ProtectedApi = Object.defineProperty(Object.assign(server, { refuses: () => false }), 'tokens', {
    get: () => server.requests.map(tokenOf),
  }) as never
  return api
}

function tokenOf({ headers }: SeenRequest): string | undefined {
  return /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1]
}
