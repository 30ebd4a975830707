import { createServer } from 'node:http'
import { listen, type TokenServer } from './token-server.ts'

export interface TokenEndpointOptions {
  /** How long it takes to respond, in milliseconds. */
  readonly latencyMs: number
  readonly expiresIn: number
}

/** The endpoint for measuring clients: counts the requests and returns a new token for each. */
export async function start({ latencyMs, expiresIn }: TokenEndpointOptions): Promise<TokenServer> {
  let requests = 0
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    request.resume().on('end', () => {
      const body = {
        access_token: `token-${++requests}-${'a'.repeat(24)}`,
        token_type: 'Bearer',
        expires_in: expiresIn,
      }
      const respond = (): void => {
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(JSON.stringify(body))
      }
      if (latencyMs > 0) setTimeout(respond, latencyMs)
      else respond()
    })
  })
  const origin = await listen(server)
  return {
    url: `${origin}/token`,
    bodies: [],
    requests: () => requests,
    close: async () => void server.close(),
  }
}
