// graphql-request: pass the result of createTokenFetch as `fetch`.
import { clientCredentials, createTokenFetch, credentialsFrom } from '@tokenwell/core'
import { gql, GraphQLClient } from 'graphql-request'

const { API_URL } = process.env

const tokens = clientCredentials(credentialsFrom(process.env))

const client = new GraphQLClient(`${API_URL}/graphql`, {
  fetch: createTokenFetch(tokens, { baseUrl: API_URL }),
})

export async function listOrders(): Promise<string[]> {
  const query = gql`
    query {
      orders {
        item
      }
    }
  `
  const { orders } = await client.request<{ orders: { item: string }[] }>(query)
  return orders.map(({ item }) => item)
}
