// ofetch: create an instance with the result of createTokenFetch.
import { clientCredentials, createTokenFetch, credentialsFrom } from '@tokenwell/core'
import { createFetch } from 'ofetch'

const { API_URL } = process.env

const tokens = clientCredentials(credentialsFrom(process.env))

const api = createFetch({
  fetch: createTokenFetch(tokens, { baseUrl: API_URL }),
  defaults: { baseURL: API_URL },
})

export async function listOrders(): Promise<string[]> {
  const orders = await api<{ item: string }[]>('/v1/orders')
  return orders.map(({ item }) => item)
}
