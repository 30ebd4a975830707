// Vercel AI SDK behind a gateway: the token replaces the API key that the provider would send.
import { createOpenAI } from '@ai-sdk/openai'
import { clientCredentials, createTokenFetch, credentialsFrom } from '@tokenwell/core'
import { generateText } from 'ai'

const { API_URL } = process.env

const tokens = clientCredentials(credentialsFrom(process.env))
const gateway = createOpenAI({
  baseURL: `${API_URL}/v1`,
  apiKey: 'replaced by the token',
  fetch: createTokenFetch(tokens, { baseUrl: API_URL, replaceHeader: true }),
})

export async function listOrders(): Promise<string[]> {
  const { text } = await generateText({
    model: gateway.chat('orders'),
    prompt: 'List the orders.',
    maxRetries: 0,
  })
  return text.split(', ')
}
