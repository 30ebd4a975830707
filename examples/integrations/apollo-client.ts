// Apollo Client: pass the result of createTokenFetch to the HttpLink.
import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client'
import { clientCredentials, createTokenFetch, createTokenProvider } from '@tokenwell/core'

const { AUTH_URL, API_URL, CLIENT_ID, CLIENT_SECRET } = process.env as Record<string, string>

const tokens = createTokenProvider(
  clientCredentials({ authUrl: AUTH_URL!, clientId: CLIENT_ID!, clientSecret: CLIENT_SECRET! }),
)

const client = new ApolloClient({
  link: new HttpLink({
    uri: `${API_URL}/graphql`,
    fetch: createTokenFetch(tokens, { allowedOrigins: [API_URL!] }),
  }),
  cache: new InMemoryCache(),
})

export async function listOrders(): Promise<string[]> {
  const query = gql`
    query {
      orders {
        item
      }
    }
  `
  const { data } = await client.query<{ orders: { item: string }[] }>({ query, fetchPolicy: 'no-cache' })
  return data?.orders.map(({ item }) => item) ?? []
}
