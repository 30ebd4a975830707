// Hey API: set the result of createTokenFetch in the generated client, once, before the first call.
import { clientCredentials, createTokenFetch, fromOpenApi } from '@tokenwell/core'
import { client } from './generated/hey-api/client.gen.ts'
import * as orders from './generated/hey-api/index.ts'
import document from './orders.json' with { type: 'json' }

const { API_URL = '', CLIENT_ID = '', CLIENT_SECRET = '' } = process.env

const { baseUrl = API_URL, ...issuer } = fromOpenApi(document, { base: API_URL })
const tokens = clientCredentials({ ...issuer, clientId: CLIENT_ID, clientSecret: CLIENT_SECRET })
client.setConfig({
  baseUrl,
  fetch: createTokenFetch(tokens, { baseUrl }),
})

export async function listOrders(): Promise<string[]> {
  const { data } = await orders.listOrders({ throwOnError: true })
  return data.map(({ item }) => item)
}
