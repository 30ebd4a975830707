// Fastify: the provider belongs to the server and closes with it.
import { clientCredentials, createTokenFetch, createTokenProvider } from '@tokenwell/core'
import { fastify } from 'fastify'

const { AUTH_URL, API_URL, CLIENT_ID, CLIENT_SECRET } = process.env as Record<string, string>

const tokens = createTokenProvider(
  clientCredentials({ authUrl: AUTH_URL!, clientId: CLIENT_ID!, clientSecret: CLIENT_SECRET! }),
)
const apiFetch = createTokenFetch(tokens, { allowedOrigins: [API_URL!] })

export const app = fastify()

app.addHook('onClose', () => tokens.close())
app.get('/orders', async (_request, reply) => {
  const upstream = await apiFetch(`${API_URL}/v1/orders`)
  reply.code(upstream.status)
  return upstream.json()
})
