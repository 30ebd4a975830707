// wretch: replace its fetch with the result of createTokenFetch.
import { clientCredentials, createTokenFetch, credentialsFrom } from '@tokenwell/core'
import wretch from 'wretch'

const { API_URL } = process.env

const tokens = clientCredentials(credentialsFrom(process.env))

const api = wretch(API_URL!).fetchPolyfill(createTokenFetch(tokens, { baseUrl: API_URL }))

export async function listOrders(): Promise<string[]> {
  const orders = await api.get('/v1/orders').json<{ item: string }[]>()
  return orders.map(({ item }) => item)
}
