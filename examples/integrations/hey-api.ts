// Hey API: set the result of createTokenFetch in the generated client.
import { createClient } from '@hey-api/client-fetch'
import { clientCredentials, createTokenFetch, createTokenProvider } from '@tokenwell/core'

const { AUTH_URL, API_URL, CLIENT_ID, CLIENT_SECRET } = process.env as Record<string, string>

const tokens = createTokenProvider(
  clientCredentials({ authUrl: AUTH_URL!, clientId: CLIENT_ID!, clientSecret: CLIENT_SECRET! }),
)

// In a project with generated code: import { client } from './client/client.gen.ts'; client.setConfig({ fetch })
const client = createClient({
  baseUrl: API_URL!,
  fetch: createTokenFetch(tokens, { allowedOrigins: [API_URL!] }),
})

export async function listOrders(): Promise<string[]> {
  const { data } = await client.get<{ 200: { item: string }[] }>({ url: '/v1/orders' })
  return data?.map(({ item }) => item) ?? []
}
