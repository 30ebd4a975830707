import type { FastifyInstance } from 'fastify'
import type { ServiceContext } from '../features/context.ts'

const timeoutMs = 2_000

/**
 * `/healthz`: the process responds. `/readyz`: it can also write to its storage, its clock is right, and it is not about to stop. It is degraded, and
 * should get requests nevertheless, while the secrets of some clients cannot be checked.
 */
export function healthEndpoints(
  server: FastifyInstance,
  {
    storage,
    missingHashKeys,
    clockOffsetMs,
  }: Pick<ServiceContext, 'storage' | 'missingHashKeys' | 'clockOffsetMs'>,
  isStopping: () => boolean,
): void {
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
    if (!ready) return reply.code(503).send({ status: 'storage unavailable' })
    const offsetMs = clockOffsetMs()
    if (offsetMs !== undefined) {
      const clockOffsetSeconds = Math.round(offsetMs / 1000)
      return reply.code(503).send({ status: 'clock differs from the database', clockOffsetSeconds })
    }
    const missing = missingHashKeys().map(({ id }) => id)
    return missing.length > 0 ? { status: 'degraded', missingHashKeys: missing } : { status: 'ok' }
  })
}
