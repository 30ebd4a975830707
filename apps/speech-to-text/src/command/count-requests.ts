import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { IncomingMessage } from 'node:http'

/** How many requests have arrived, by `METHOD /path`. */
export interface RequestCount {
  readonly arrived: ReadonlyMap<string, number>
  stop(): void
}

/** Counts what arrives at the servers of this process: what was really sent, whatever the clients say. */
export function countRequests(): RequestCount {
  const arrived = new Map<string, number>()
  const channel = 'http.server.request.start'
  const note = (message: unknown) => {
    const { method, url } = (message as { readonly request: IncomingMessage }).request
    const request = `${method} ${url?.replace(/\?.*/, '')}`
    arrived.set(request, (arrived.get(request) ?? 0) + 1)
  }
  subscribe(channel, note)
  return { arrived, stop: () => void unsubscribe(channel, note) }
}
