// Fastify: the provider belongs to the server and closes with it.
import { clientCredentials, createTokenFetch, credentialsFrom } from '@tokenwell/core'
import { fastify } from 'fastify'

const tokens = clientCredentials(credentialsFrom(process.env))
const apiFetch = createTokenFetch(tokens, { baseUrl: process.env.API_URL })

export const app = fastify()

app.addHook('onClose', () => tokens.close())
app.get('/orders', async (_request, reply) => {
  const upstream = await apiFetch('/v1/orders')
  reply.code(upstream.status)
  return upstream.json()
})
