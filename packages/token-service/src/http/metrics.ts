import type { FastifyInstance } from 'fastify'
import type { ServiceContext } from '../features/context.ts'
import type { RequestObserver } from './request-outcome.ts'

export interface Metrics {
  readonly observe: RequestObserver
  readonly contentType: string
  read(): Promise<string>
}

const dayMs = 86_400_000
/** Those that expire next: each client is a time series. */
const maxSecrets = 100

/** Counts requests and says which secrets expire, for Prometheus. */
export async function createMetrics({
  storage,
  clock,
  missingHashKeys,
  logFailure,
}: ServiceContext): Promise<Metrics> {
  const { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } = await import('prom-client')
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

  const expiry = new Gauge({
    name: 'tokenwell_credential_expiry_seconds',
    help: 'Time until the first secret of a client expires that was used in the last 7 days; the next 100 within 30 days',
    labelNames: ['client_id'],
    registers,
    async collect() {
      const nowMs = clock.now()
      const period = [nowMs, nowMs + 30 * dayMs] as const
      try {
        const filter = { usedSinceMs: nowMs - 7 * dayMs, limit: maxSecrets, offset: 0 }
        const { items } = await storage.listings.expiringSecrets(period, filter)
        expiry.reset()
        // The first one of a client is set last.
        for (const { owner, expiresAtMs } of items.toReversed())
          expiry.set({ client_id: owner.clientId }, (expiresAtMs - nowMs) / 1000)
      } catch (error) {
        // The other metrics are needed most while the storage fails.
        logFailure(error)
      }
    },
  })

  const missing: InstanceType<typeof Gauge> = new Gauge({
    name: 'tokenwell_missing_hash_keys',
    help: 'Keys that secrets were hashed with and that are not configured: these secrets are rejected',
    registers,
    collect: () => missing.set(missingHashKeys().length),
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
