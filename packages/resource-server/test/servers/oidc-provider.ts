import { createServer } from 'node:http'
import { errors, Provider } from 'oidc-provider'
import { vi } from 'vitest'
import { listen } from '../apis/node-apis.ts'

const client = { client_id: 'client', client_secret: 'client-secret' }
export const resourceServer = { clientId: 'orders-api', clientSecret: 'orders-secret' }
/** Resources with opaque and with JWT access tokens. */
export const resources = {
  opaque: 'https://opaque.example.com',
  jwt: 'https://jwt.example.com',
  other: 'https://other.example.com',
  /** With JWTs, for another API. */
  otherJwt: 'https://other-jwt.example.com',
}

export interface OidcProvider {
  readonly issuer: string
  requestToken(resource: string, headers?: Record<string, string>): Promise<string>
  revoke(token: string): Promise<void>
  close(): Promise<void>
}

export async function startOidcProvider(): Promise<OidcProvider> {
  // It writes about its own development defaults.
  const silenced = (['info', 'warn'] as const).map((method) =>
    vi.spyOn(console, method).mockImplementation(() => {}),
  )
  let provider: Provider
  const listener = await listen(
    createServer((request, response) => void provider.callback()(request, response)),
  )
  const { origin } = listener
  const common = { grant_types: ['client_credentials'], response_types: [], redirect_uris: [] }
  provider = new Provider(origin, {
    clients: [
      {
        ...client,
        ...common,
        token_endpoint_auth_method: 'client_secret_post',
        scope: 'orders:read orders:write',
      },
      {
        ...common,
        client_id: resourceServer.clientId,
        client_secret: resourceServer.clientSecret,
        token_endpoint_auth_method: 'client_secret_basic',
      },
    ],
    scopes: ['orders:read', 'orders:write'],
    ttl: { ClientCredentials: 600 },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      dPoP: { enabled: true },
      introspection: {
        enabled: true,
        allowedPolicy: async (_context, { clientId }) => clientId === resourceServer.clientId,
      },
      revocation: { enabled: true, allowedPolicy: async () => true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_context, resource) => {
          if (!Object.values(resources).includes(resource)) throw new errors.InvalidTarget()
          const accessTokenFormat = resource === resources.opaque ? 'opaque' : 'jwt'
          return { scope: 'orders:read orders:write', audience: resource, accessTokenFormat }
        },
      },
    },
  })
  const post = (path: string, form: Record<string, string>, headers: Record<string, string> = {}) =>
    fetch(`${origin}${path}`, { method: 'POST', headers, body: new URLSearchParams({ ...client, ...form }) })
  return {
    issuer: origin,
    async requestToken(resource, headers) {
      const form = { grant_type: 'client_credentials', scope: 'orders:read', resource }
      const body = (await (await post('/token', form, headers)).json()) as { access_token: string }
      return body.access_token
    },
    async revoke(token) {
      await post('/token/revocation', { token })
    },
    async close() {
      await listener.close()
      for (const spy of silenced) spy.mockRestore()
    },
  }
}
