// graphql-request: pass the result of createTokenFetch as `fetch`.
import { clientCredentials, createTokenFetch, createTokenProvider } from '@tokenwell/core'
import { gql, GraphQLClient } from 'graphql-request'

const { AUTH_URL, API_URL, CLIENT_ID, CLIENT_SECRET } = process.env as Record<string, string>

const tokens = createTokenProvider(
  clientCredentials({ authUrl: AUTH_URL!, clientId: CLIENT_ID!, clientSecret: CLIENT_SECRET! }),
)

const client = new GraphQLClient(`${API_URL}/graphql`, {
  fetch: createTokenFetch(tokens, { allowedOrigins: [API_URL!] }),
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
