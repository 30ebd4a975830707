import type { FastifyInstance } from 'fastify'
import type { RequestObserver } from './request-outcome.ts'

/** Serves `/metrics` for Prometheus; returns what counts the requests. */
export async function metricsEndpoint(server: FastifyInstance): Promise<RequestObserver> {
  const { collectDefaultMetrics, Counter, Histogram, Registry } = await import('prom-client')
  const registers = [new Registry()]
  const [registry] = registers as [InstanceType<typeof Registry>]
  collectDefaultMetrics({ register: registry })
  const durations = new Histogram({
    name: 'tokenwell_request_duration_seconds',
    help: 'Time from the first byte of a request to the last of its answer',
    labelNames: ['path', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
    registers,
  })
  const refusals = new Counter({
    name: 'tokenwell_refusals_total',
    help: 'Requests refused, by reason',
    labelNames: ['path', 'reason'],
    registers,
  })

  server.get('/metrics', async (_request, reply) => {
    return reply.type(registry.contentType).send(await registry.metrics())
  })

  return ({ path, status, durationMs, reason }) => {
    durations.observe({ path, status }, durationMs / 1000)
    if (reason) refusals.inc({ path, reason })
  }
}
