// Vercel AI SDK behind a gateway: the token replaces the API key that the provider would send.
import { createOpenAI } from '@ai-sdk/openai'
import { clientCredentials, createTokenFetch, createTokenProvider } from '@tokenwell/core'
import { generateText } from 'ai'

const { AUTH_URL, API_URL, CLIENT_ID, CLIENT_SECRET } = process.env as Record<string, string>

const tokens = createTokenProvider(
  clientCredentials({ authUrl: AUTH_URL!, clientId: CLIENT_ID!, clientSecret: CLIENT_SECRET! }),
)
const gateway = createOpenAI({
  baseURL: `${API_URL}/v1`,
  apiKey: 'replaced by the token',
  fetch: createTokenFetch(tokens, { allowedOrigins: [API_URL!], replaceHeader: true }),
})

export async function listOrders(): Promise<string[]> {
  const { text } = await generateText({
    model: gateway.chat('orders'),
    prompt: 'List the orders.',
    maxRetries: 0,
  })
  return text.split(', ')
}
