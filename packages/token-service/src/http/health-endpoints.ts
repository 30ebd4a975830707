import type { FastifyInstance } from 'fastify'
import type { Storage } from '../storage/storage.ts'

const timeoutMs = 2_000

/** `/healthz`: the process responds. `/readyz`: it can also write to its storage and is not about to stop. */
export function healthEndpoints(server: FastifyInstance, storage: Storage, isStopping: () => boolean): void {
  server.get('/healthz', (_request, reply) => reply.send({ status: 'ok' }))

  server.get('/readyz', async (_request, reply) => {
    if (isStopping()) return reply.code(503).send({ status: 'stopping' })
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
