import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { IncomingMessage } from 'node:http'

/** The number of received requests, by `METHOD /path`. */
export interface RequestCount {
  readonly received: ReadonlyMap<string, number>
  stop(): void
}

/** Counts the requests that the servers of this process receive, so what the clients have really sent. */
export function countRequests(): RequestCount {
  const received = new Map<string, number>()
  const channel = 'http.server.request.start'
  const count = (message: unknown) => {
    const { method, url } = (message as { readonly request: IncomingMessage }).request
    const request = `${method} ${url?.replace(/\?.*/, '')}`
    received.set(request, (received.get(request) ?? 0) + 1)
  }
  subscribe(channel, count)
  return { received, stop: () => void unsubscribe(channel, count) }
}
