// Express: one provider for the process, and a route that calls an API with its token.
import { clientCredentials, createTokenFetch, createTokenProvider } from '@tokenwell/core'
import express from 'express'

const { AUTH_URL, API_URL, CLIENT_ID, CLIENT_SECRET } = process.env as Record<string, string>

const tokens = createTokenProvider(
  clientCredentials({ authUrl: AUTH_URL!, clientId: CLIENT_ID!, clientSecret: CLIENT_SECRET! }),
)
const apiFetch = createTokenFetch(tokens, { allowedOrigins: [API_URL!] })

export const app = express()

app.get('/orders', async (_request, response) => {
  const upstream = await apiFetch(`${API_URL}/v1/orders`)
  response.status(upstream.status).json(await upstream.json())
})
