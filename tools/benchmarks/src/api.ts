import { setTimeout } from 'node:timers/promises'

/** The API that the measured clients call. */
export const apiOrigin = 'https://api.example.com'
export const apiPath = '/v1/orders'
export const apiUrl: string = apiOrigin + apiPath

let isRejected = (_authorization: string): boolean => false
let slownessMs = 0
let calls = 0
const json = { 'content-type': 'application/json' }

/** From now on, the API responds with 401 to these headers. */
export function rejectTokens(test: (authorization: string) => boolean): void {
  isRejected = test
}

/** The API takes up to `ms` to respond, a different time for each call, so that responses arrive out of order. */
export function respondWithin(ms: number): void {
  slownessMs = ms
}

/** The API runs inside the measuring process, so that the network is not measured. */
export function respondFromApi(authorization: string): number | Promise<number> {
  // Checked when the request arrives, as a server does.
  const status = isRejected(authorization) ? 401 : 200
  return slownessMs === 0 ? status : setTimeout((++calls * 7) % slownessMs, status)
}

const globalFetch = globalThis.fetch

/** Replaces the global `fetch`: requests to the API stay inside the process, all others use the network. */
globalThis.fetch = async (input, init) => {
  const url = input instanceof Request ? input.url : input.toString()
  if (!url.startsWith(apiUrl)) return globalFetch(input, init)
  const headers = init?.headers ?? (input instanceof Request ? input.headers : {})
  const status = respondFromApi(headerOf(headers))
  return new Response('{}', { status: typeof status === 'number' ? status : await status, headers: json })
}

function headerOf(headers: HeadersInit): string {
  if (headers instanceof Headers) return headers.get('authorization') ?? ''
  const record = headers as Record<string, string>
  return record['Authorization'] ?? record['authorization'] ?? ''
}
