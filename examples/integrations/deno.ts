// Deno: run with --allow-env and --allow-net, limited to the token service and the API.
import { clientCredentials, createTokenFetch, createTokenProvider } from '@tokenwell/core'
import process from 'node:process'

const { AUTH_URL, API_URL, CLIENT_ID, CLIENT_SECRET } = process.env as Record<string, string>

const tokens = createTokenProvider(
  clientCredentials({ authUrl: AUTH_URL!, clientId: CLIENT_ID!, clientSecret: CLIENT_SECRET! }),
)
const apiFetch = createTokenFetch(tokens, { allowedOrigins: [API_URL!] })

export async function listOrders(): Promise<string[]> {
  const response = await apiFetch(`${API_URL}/v1/orders`)
  const orders = (await response.json()) as { item: string }[]
  return orders.map(({ item }) => item)
}
