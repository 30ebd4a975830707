import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { workerVariable, type MetricsRequest } from '../http/worker-metrics.ts'

const firstDelayMs = 1_000
const longestDelayMs = 30_000
/** After that, the next crash has another cause. */
const stableMs = 60_000

type Exit = [code: number | null, signal: NodeJS.Signals | null]

/**
 * Runs the same command in that many processes, which share the ports, and replaces those that exit. A worker that is
 * ready sends a message; the others start after the first one, which migrates the database and reports usage errors.
 */
export async function superviseWorkers(count: number, print: (line: string) => void): Promise<void> {
  const stopping = new AbortController()
  const isStopping = () => stopping.signal.aborted

  function start(): Worker {
    const worker = cluster.fork({ [workerVariable]: 'true' })
    worker.on('message', (message: Partial<MetricsRequest>) => {
      if (message.metricsId !== undefined) void sendMetrics(worker, message.metricsId)
    })
    return worker
  }

  async function keepRunning(first: Worker): Promise<void> {
    let worker = first
    for (let waitMs = firstDelayMs; ; waitMs = Math.min(waitMs * 2, longestDelayMs)) {
      const startedAt = performance.now()
      const [code, signal] = (await once(worker, 'exit')) as Exit
      if (isStopping()) return void (process.exitCode ||= code ?? 1)
      if (performance.now() - startedAt > stableMs) waitMs = firstDelayMs
      print(
        `Worker ${worker.process.pid} exited (${signal ?? `code ${code}`}). Starting another one in ${waitMs / 1000} s.`,
      )
      await delay(waitMs, undefined, { signal: stopping.signal }).catch(() => {})
      if (isStopping()) return
      worker = start()
    }
  }

  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      // A second signal stops at once.
      for (const worker of Object.values(cluster.workers ?? {})) {
        worker?.process.kill(isStopping() ? 'SIGKILL' : signal)
      }
      if (isStopping()) process.exit(1)
      stopping.abort()
    })
  }

  const first = start()
  const isReady = new Promise<void>((resolve) => {
    first.on('message', (message) => void (message === 'ready' && resolve()))
  })
  const exit = await Promise.race([isReady, once(first, 'exit') as Promise<Exit>])
  if (exit) process.exit(isStopping() ? 0 : (exit[0] ?? 1))
  await Promise.all([first, ...Array.from({ length: count - 1 }, start)].map(keepRunning))
  process.exit()
}

/** The metrics of all workers, added up. */
async function sendMetrics(to: Worker, metricsId: number): Promise<void> {
  const { AggregatorRegistry } = await import('prom-client')
  const aggregator = new AggregatorRegistry()
  const metrics = await aggregator.clusterMetrics().catch(() => undefined)
  if (to.isConnected()) to.send({ metricsId, metrics })
}
