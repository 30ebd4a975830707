// Hono on Node: a route that calls an API with the token of the process.
import { clientCredentials, createTokenFetch, credentialsFrom } from '@tokenwell/core'
import { Hono } from 'hono'

const tokens = clientCredentials(credentialsFrom(process.env))
const apiFetch = createTokenFetch(tokens, { baseUrl: process.env.API_URL })

export const app = new Hono()

app.get('/orders', async (context) => {
  const upstream = await apiFetch('/v1/orders')
  return context.json(await upstream.json(), upstream.ok ? 200 : 502)
})
