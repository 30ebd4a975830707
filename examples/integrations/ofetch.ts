// ofetch: create an instance with the result of createTokenFetch.
import { clientCredentials, createTokenFetch, createTokenProvider } from '@tokenwell/core'
import { createFetch } from 'ofetch'

const { AUTH_URL, API_URL, CLIENT_ID, CLIENT_SECRET } = process.env as Record<string, string>

const tokens = createTokenProvider(
  clientCredentials({ authUrl: AUTH_URL!, clientId: CLIENT_ID!, clientSecret: CLIENT_SECRET! }),
)

const api = createFetch({
  fetch: createTokenFetch(tokens, { allowedOrigins: [API_URL!] }),
  defaults: { baseURL: API_URL! },
})

export async function listOrders(): Promise<string[]> {
  const orders = await api<{ item: string }[]>('/v1/orders')
  return orders.map(({ item }) => item)
}
