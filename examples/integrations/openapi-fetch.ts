// openapi-fetch: pass the result of createTokenFetch as `fetch`.
import { clientCredentials, createTokenFetch, createTokenProvider } from '@tokenwell/core'
import createClient from 'openapi-fetch'

// Generated from the API's description: npx openapi-typescript openapi.yaml --output orders.d.ts
interface paths {
  '/v1/orders': {
    get: {
      responses: { 200: { content: { 'application/json': { id: number; item: string }[] } } }
    }
  }
}

const { AUTH_URL, API_URL, CLIENT_ID, CLIENT_SECRET } = process.env as Record<string, string>

const tokens = createTokenProvider(
  clientCredentials({ authUrl: AUTH_URL!, clientId: CLIENT_ID!, clientSecret: CLIENT_SECRET! }),
)
const api = createClient<paths>({
  baseUrl: API_URL!,
  fetch: createTokenFetch(tokens, { allowedOrigins: [API_URL!] }),
})

export async function listOrders(): Promise<string[]> {
  const { data = [] } = await api.GET('/v1/orders')
  return data.map(({ item }) => item)
}
