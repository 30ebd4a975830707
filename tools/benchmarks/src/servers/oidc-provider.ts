import { createServer } from 'node:http'
import { Provider } from 'oidc-provider'
import { client, listen, standardForm, type TokenServer } from './token-server.ts'

/** Opaque tokens in its own memory adapter, with everything disabled that the grant does not need. */
export async function start(): Promise<TokenServer> {
  const server = createServer()
  const origin = await listen(server)
  const provider = new Provider(origin, {
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        token_endpoint_auth_method: 'client_secret_post',
        grant_types: ['client_credentials'],
        response_types: [],
        redirect_uris: [],
      },
    ],
    ttl: { ClientCredentials: 3600 },
    features: { devInteractions: { enabled: false }, clientCredentials: { enabled: true } },
  })
  const handle = provider.callback()
  server.on('request', (request, response) => void handle(request, response))
  return { url: `${origin}/token`, bodies: [standardForm], close: async () => void server.close() }
}
