import type { FastifyInstance } from 'fastify'
import type { RequestObserver } from './request-outcome.ts'

export interface Metrics {
  readonly observe: RequestObserver
  readonly contentType: string
  read(): Promise<string>
}

/** Counts requests, for Prometheus. */
export async function createMetrics(): Promise<Metrics> {
  const { collectDefaultMetrics, Counter, Histogram, Registry } = await import('prom-client')
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  const durations = new Histogram({
    name: 'tokenwell_request_duration_seconds',
    help: 'Time from receiving a request to sending its response',
    labelNames: ['path', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
    registers,
  })
  const rejected = new Counter({
    name: 'tokenwell_rejected_requests_total',
    help: 'Rejected requests by reason',
    labelNames: ['path', 'reason'],
    registers,
  })

  return {
    observe({ path, status, durationMs, reason }) {
      durations.observe({ path, status }, durationMs / 1000)
      if (reason) rejected.inc({ path, reason })
    },
    contentType: registry.contentType,
    read: () => registry.metrics(),
  }
}

export function metricsEndpoint(server: FastifyInstance, metrics: Metrics): void {
  server.get('/metrics', async (_request, reply) =>
    reply.type(metrics.contentType).send(await metrics.read()),
  )
}
