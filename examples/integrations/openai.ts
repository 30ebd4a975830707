// OpenAI SDK behind a gateway: the token replaces the API key that the SDK would send.
import { clientCredentials, createTokenFetch, createTokenProvider } from '@tokenwell/core'
import OpenAI from 'openai'

const { AUTH_URL, API_URL, CLIENT_ID, CLIENT_SECRET } = process.env as Record<string, string>

const tokens = createTokenProvider(
  clientCredentials({ authUrl: AUTH_URL!, clientId: CLIENT_ID!, clientSecret: CLIENT_SECRET! }),
)
const gateway = new OpenAI({
  baseURL: `${API_URL}/v1`,
  apiKey: 'replaced by the token',
  fetch: createTokenFetch(tokens, { allowedOrigins: [API_URL!], replaceHeader: true }),
  maxRetries: 0,
})

export async function listOrders(): Promise<string[]> {
  const { choices } = await gateway.chat.completions.create({
    model: 'orders',
    messages: [{ role: 'user', content: 'List the orders.' }],
  })
  return choices[0]?.message.content?.split(', ') ?? []
}
