import type { FastifyInstance } from 'fastify'
import { outcomeOf, type RequestObserver, type RequestOutcome } from '../http/request-outcome.ts'

export interface JournalEntry extends RequestOutcome {
  readonly number: number
  readonly method: string
  readonly path: string
  /** `0`: the connection was closed without a response. */
  readonly status: number
  readonly durationMs: number
}

export interface JournalContents {
  readonly total: number
  readonly counts: Readonly<Record<'path' | 'status' | 'client', Readonly<Record<string, number>>>>
  /** The latest requests. */
  readonly requests: readonly JournalEntry[]
}

/** The requests that were received, without secrets and tokens. */
export interface Journal {
  /** Records every request to this server's routes. */
  observe(server: FastifyInstance): void
  readonly record: RequestObserver
  read(): JournalContents
  reset(): void
}

const maxEntries = 10_000

export function createJournal(): Journal {
  let requests: JournalEntry[] = []
  let total = 0
  let counts = noCounts()

  function record({
    method,
    path,
    status,
    durationMs,
    clientId,
    reason,
  }: Omit<JournalEntry, 'number'>): void {
    total += 1
    requests.push({
      number: total,
      method,
      path,
      status,
      durationMs: Math.round(durationMs),
      clientId,
      reason,
    })
    if (requests.length > maxEntries) requests.shift()
    increment(counts.path, path)
    increment(counts.status, String(status))
    if (clientId !== undefined) increment(counts.client, clientId)
  }

  return {
    record,
    observe(server) {
      server.addHook('onRequest', (request, reply, done) => {
        const { method, routeOptions } = request
        reply.raw.once('close', () => {
          const status = reply.raw.headersSent ? reply.raw.statusCode : 0
          const { clientId, reason } = outcomeOf(request)
          const { elapsedTime: durationMs } = reply
          record({ method, path: routeOptions.url ?? '', status, durationMs, clientId, reason })
        })
        done()
      })
    },
    read() {
      const { path, status, client } = counts
      const plain = {
        path: Object.fromEntries(path),
        status: Object.fromEntries(status),
        client: Object.fromEntries(client),
      }
      return { total, counts: plain, requests }
    },
    reset() {
      requests = []
      total = 0
      counts = noCounts()
    },
  }
}

function noCounts() {
  return {
    path: new Map<string, number>(),
    status: new Map<string, number>(),
    client: new Map<string, number>(),
  }
}

function increment(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}
