// OpenAI SDK behind a gateway: the token replaces the API key that the SDK would send.
import { clientCredentials, createTokenFetch, credentialsFrom } from '@tokenwell/core'
import OpenAI from 'openai'

const { API_URL } = process.env

const tokens = clientCredentials(credentialsFrom(process.env))
const gateway = new OpenAI({
  baseURL: `${API_URL}/v1`,
  apiKey: 'replaced by the token',
  fetch: createTokenFetch(tokens, { baseUrl: API_URL, replaceHeader: true }),
  maxRetries: 0,
})

export async function listOrders(): Promise<string[]> {
  const { choices } = await gateway.chat.completions.create({
    model: 'orders',
    messages: [{ role: 'user', content: 'List the orders.' }],
  })
  return choices[0]?.message.content?.split(', ') ?? []
}
