// Apollo Client: pass the result of createTokenFetch to the HttpLink.
import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client'
import { clientCredentials, createTokenFetch, credentialsFrom } from '@tokenwell/core'

const { API_URL } = process.env

const tokens = clientCredentials(credentialsFrom(process.env))

const client = new ApolloClient({
  link: new HttpLink({
    uri: `${API_URL}/graphql`,
    fetch: createTokenFetch(tokens, { baseUrl: API_URL }),
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
