// Bun: the same code as in Node, with Bun's fetch.
import { clientCredentials, createTokenFetch, credentialsFrom } from '@tokenwell/core'

const tokens = clientCredentials(credentialsFrom(process.env))
const apiFetch = createTokenFetch(tokens, { baseUrl: process.env.API_URL })

export async function listOrders(): Promise<string[]> {
  const response = await apiFetch('/v1/orders')
  const orders = (await response.json()) as { item: string }[]
  return orders.map(({ item }) => item)
}
