import { OAuth2Server } from 'oauth2-mock-server'
import { standardForm, type TokenServer } from './token-server.ts'

/** As its README starts it. It signs JWTs, caches no token, and checks no secret. */
export async function start(): Promise<TokenServer> {
  const server = new OAuth2Server()
  await server.issuer.keys.generate('RS256')
  await server.start(0, '127.0.0.1')
  const { port } = server.address()
  return { url: `http://127.0.0.1:${port}/token`, bodies: [standardForm], close: () => server.stop() }
}
