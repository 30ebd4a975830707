import type { FastifyInstance } from 'fastify'
import type { Storage } from '../storage/storage.ts'

const patienceMs = 2_000

/** `/healthz`: the process answers. `/readyz`: it can issue tokens, because its storage answers too. */
export function healthEndpoints(server: FastifyInstance, storage: Storage): void {
  server.get('/healthz', (_request, reply) => reply.send({ status: 'ok' }))

  server.get('/readyz', async (_request, reply) => {
    const ready = await Promise.race([
      storage.probe().then(
        () => true,
        () => false,
      ),
      new Promise<false>((resolve) => setTimeout(() => resolve(false), patienceMs).unref()),
    ])
    return reply.code(ready ? 200 : 503).send({ status: ready ? 'ok' : 'storage unavailable' })
  })
}
