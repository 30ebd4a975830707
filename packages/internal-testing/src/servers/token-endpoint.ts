import type { TokenSource } from '@tokenwell/core'
import { createGrantSource } from '@tokenwell/core/adapter'
import { json, startScriptedServer, type ScriptedServer } from './scripted-server.ts'

/**
 * A token endpoint that issues a new token for each request, bound to its proof if it has one, unless `respond` is
 * replaced.
 */
export interface TokenEndpoint extends ScriptedServer {
  /** The tokens issued so far. */
  readonly issued: readonly string[]
  /** Requests tokens from this endpoint, for providers of a test's own. */
  readonly source: TokenSource
}

/** Starts a token endpoint on a free port of the loopback address. */
export async function startTokenEndpoint(): Promise<TokenEndpoint> {
  const issued: string[] = []
  const server = await startScriptedServer(({ headers }) => {
    const token = `token-${issued.length + 1}-${crypto.randomUUID()}`
    issued.push(token)
    return json({ access_token: token, token_type: headers['dpop'] ? 'DPoP' : 'Bearer', expires_in: 3600 })
  })
  const source = createGrantSource({
    tokenEndpoint: `${server.origin}/token`,
    clientId: 'a-client',
    clientSecret: 'a-secret',
  })
  return Object.assign(server, { issued, source })
}
