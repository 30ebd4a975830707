import type { FastifyInstance } from 'fastify'
import { isWorker, metricsOfAllWorkers } from './worker-metrics.ts'
import type { RequestObserver } from './request-outcome.ts'

export interface Metrics {
  readonly observe: RequestObserver
  readonly contentType: string
  /** `undefined` while a worker does not respond. */
  read(): Promise<string | undefined>
}

/** Counts requests, for Prometheus. */
export async function createMetrics(): Promise<Metrics> {
  const { AggregatorRegistry, collectDefaultMetrics, Counter, Histogram, Registry } =
    await import('prom-client')
  const registry = isWorker() ? new AggregatorRegistry() : new Registry()
  AggregatorRegistry.setRegistries(registry)
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
    read: () => (isWorker() ? metricsOfAllWorkers() : registry.metrics()),
  }
}

export function metricsEndpoint(server: FastifyInstance, metrics: Metrics): void {
  server.get('/metrics', async (_request, reply) => {
    const text = await metrics.read()
    return text === undefined ? reply.code(503).send() : reply.type(metrics.contentType).send(text)
  })
}
