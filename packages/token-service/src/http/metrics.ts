import type { FastifyInstance } from 'fastify'
import type { ServiceContext } from '../features/context.ts'
import { expiresSoonMs } from '../storage/application.ts'
import type { RequestObserver } from './request-outcome.ts'

export interface Metrics {
  readonly observe: RequestObserver
  readonly contentType: string
  read(): Promise<string>
}

const dayMs = 86_400_000
const expiryDays = [1, 7, 14, expiresSoonMs / dayMs]

/** Counts requests, and what somebody must see or decide, for Prometheus. No label names a client. */
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

  /** A gauge of what the storage says when it is asked; without the storage, the other metrics are needed most. */
  function storedGauge<Label extends string>(
    name: string,
    help: string,
    set: (gauge: InstanceType<typeof Gauge<Label>>) => Promise<void>,
    labelNames: Label[] = [],
  ): void {
    const gauge: InstanceType<typeof Gauge<Label>> = new Gauge({
      name,
      help,
      labelNames,
      registers,
      collect: () => set(gauge).catch(logFailure),
    })
  }
  const { listings } = storage
  const applications = (status: 'awaiting' | 'failing') =>
    listings.applications({ status, order: 'requested', nowMs: clock.now(), limit: 1, offset: 0 })
  storedGauge(
    'tokenwell_pending_approvals',
    'New applications, and changes of approved ones, that wait for the decision of an administrator',
    async (gauge) => gauge.set((await applications('awaiting')).total),
  )
  storedGauge(
    'tokenwell_oldest_pending_approval_seconds',
    'How long the oldest of them has waited; 0 without any',
    async (gauge) => {
      const [oldest] = (await applications('awaiting')).items
      const { createdAtMs, review } = oldest?.application ?? { createdAtMs: clock.now() }
      gauge.set((clock.now() - (review?.requestedAtMs ?? createdAtMs)) / 1000)
    },
  )
  storedGauge(
    'tokenwell_expiring_secrets',
    'Secrets that were used in the last 7 days and expire within so many days',
    async (gauge) => {
      const nowMs = clock.now()
      for (const days of expiryDays) {
        const filter = { usedSinceMs: nowMs - 7 * dayMs, limit: 0, offset: 0 }
        const { total } = await listings.expiringSecrets([nowMs, nowMs + days * dayMs], filter)
        gauge.set({ days: String(days) }, total)
      }
    },
    ['days'],
  )
  storedGauge(
    'tokenwell_failing_clients',
    'Applications that requested tokens in the last 24 hours, and have got none since a request failed',
    async (gauge) => gauge.set((await applications('failing')).total),
  )

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
