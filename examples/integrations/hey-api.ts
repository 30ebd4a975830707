// Hey API: set the result of createTokenFetch in the generated client, once, before the first call.
import { clientCredentials, createTokenFetch, createTokenProvider } from '@tokenwell/core'
import { client } from './generated/hey-api/client.gen.ts'
import * as orders from './generated/hey-api/index.ts'

const { AUTH_URL, API_URL, CLIENT_ID, CLIENT_SECRET } = process.env as Record<string, string>

const tokens = createTokenProvider(
  clientCredentials({ authUrl: AUTH_URL!, clientId: CLIENT_ID!, clientSecret: CLIENT_SECRET! }),
)
client.setConfig({
  baseUrl: API_URL!,
  fetch: createTokenFetch(tokens, { allowedOrigins: [API_URL!] }),
})

export async function listOrders(): Promise<string[]> {
  const { data = [] } = await orders.listOrders()
  return data.map(({ item }) => item)
}
