import Fastify, { type FastifyInstance } from 'fastify'
import type { ProtectedApi } from './verifier.ts'

export async function fastifyApi(
  protect: (routes: FastifyInstance) => Promise<void>,
  token: string,
): Promise<ProtectedApi> {
  const app = Fastify()
  app.get('/open', async () => 'ok')
  await app.register(async (routes) => {
    await protect(routes)
    routes.get('/protected', async () => 'ok')
  })
  await app.ready()
  return {
    token,
    async call(url, value) {
      return (await app.inject({ url, headers: { authorization: `Bearer ${value}` } })).statusCode
    },
  }
}
