import type { FastifyInstance } from 'fastify'
import { isWorker, metricsOfAllWorkers } from './worker-metrics.ts'
import type { RequestObserver } from './request-outcome.ts'

/** Serves `/metrics` for Prometheus; returns the observer that counts requests. */
export async function metricsEndpoint(server: FastifyInstance): Promise<RequestObserver> {
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

  server.get('/metrics', async (_request, reply) => {
    const metrics = await (isWorker() ? metricsOfAllWorkers() : registry.metrics())
    return metrics === undefined ? reply.code(503).send() : reply.type(registry.contentType).send(metrics)
  })

  return ({ path, status, durationMs, reason }) => {
    durations.observe({ path, status }, durationMs / 1000)
    if (reason) rejected.inc({ path, reason })
  }
}
