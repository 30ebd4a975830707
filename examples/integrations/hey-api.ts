// Hey API: set the result of createTokenFetch in the generated client, once, before the first call.
import { clientCredentials, createTokenFetch, credentialsFrom } from '@tokenwell/core'
import { client } from './generated/hey-api/client.gen.ts'
import * as orders from './generated/hey-api/index.ts'

const API_URL = process.env.API_URL!

const tokens = clientCredentials(credentialsFrom(process.env))
client.setConfig({
  baseUrl: API_URL,
  fetch: createTokenFetch(tokens, { baseUrl: API_URL }),
})

export async function listOrders(): Promise<string[]> {
  const { data } = await orders.listOrders({ throwOnError: true })
  return data.map(({ item }) => item)
}
