import type { FastifyInstance } from 'fastify'
import type { Storage } from '../storage/storage.ts'

const timeoutMs = 2_000

/** `/healthz`: the process responds. `/readyz`: its storage responds too. */
export function healthEndpoints(server: FastifyInstance, storage: Storage): void {
  server.get('/healthz', (_request, reply) => reply.send({ status: 'ok' }))

  server.get('/readyz', async (_request, reply) => {
    const ready = await Promise.race([
      storage.probe().then(
        () => true,
        () => false,
      ),
      new Promise<false>((resolve) => setTimeout(() => resolve(false), timeoutMs).unref()),
    ])
    return reply.code(ready ? 200 : 503).send({ status: ready ? 'ok' : 'storage unavailable' })
  })
}
