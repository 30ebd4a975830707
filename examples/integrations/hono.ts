// Hono on Node: a route that calls an API with the token of the process.
import { clientCredentials, createTokenFetch, createTokenProvider } from '@tokenwell/core'
import { Hono } from 'hono'

const { AUTH_URL, API_URL, CLIENT_ID, CLIENT_SECRET } = process.env as Record<string, string>

const tokens = createTokenProvider(
  clientCredentials({ authUrl: AUTH_URL!, clientId: CLIENT_ID!, clientSecret: CLIENT_SECRET! }),
)
const apiFetch = createTokenFetch(tokens, { allowedOrigins: [API_URL!] })

export const app = new Hono()

app.get('/orders', async (context) => {
  const upstream = await apiFetch(`${API_URL}/v1/orders`)
  return context.json(await upstream.json(), upstream.ok ? 200 : 502)
})
