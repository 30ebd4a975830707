import { setTimeout } from 'node:timers/promises'

/** What the measured clients call. */
export const apiOrigin = 'https://api.example.com'
export const apiPath = '/v1/orders'
export const apiUrl: string = apiOrigin + apiPath

let isRejected = (_authorization: string): boolean => false
let slownessMs = 0
let calls = 0
const json = { 'content-type': 'application/json' }

/** The API responds 401 to these headers from now on. */
export function rejectTokens(test: (authorization: string) => boolean): void {
  isRejected = test
}

/** The API takes up to `ms` to respond, a different time for each call, so that responses arrive out of order. */
export function respondWithin(ms: number): void {
  slownessMs = ms
}

/** The API itself, inside the measuring process: what is measured is the client and the token's part, no network. */
export function respondFromApi(authorization: string): number | Promise<number> {
  // Looked at when the request arrives, as a server does.
  const status = isRejected(authorization) ? 401 : 200
  return slownessMs === 0 ? status : setTimeout((++calls * 7) % slownessMs, status)
}

const globalFetch = globalThis.fetch

/** `fetch` for everything that calls it: to the API inside, and out to the network for all else. */
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
