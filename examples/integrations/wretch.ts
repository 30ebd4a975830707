// wretch: replace its fetch with the result of createTokenFetch.
import { clientCredentials, createTokenFetch, createTokenProvider } from '@tokenwell/core'
import wretch from 'wretch'

const { AUTH_URL, API_URL, CLIENT_ID, CLIENT_SECRET } = process.env as Record<string, string>

const tokens = createTokenProvider(
  clientCredentials({ authUrl: AUTH_URL!, clientId: CLIENT_ID!, clientSecret: CLIENT_SECRET! }),
)

const api = wretch(API_URL!).fetchPolyfill(createTokenFetch(tokens, { allowedOrigins: [API_URL!] }))

export async function listOrders(): Promise<string[]> {
  const orders = await api.get('/v1/orders').json<{ item: string }[]>()
  return orders.map(({ item }) => item)
}
