import { setTimeout } from 'node:timers/promises'

/** What the measured clients call. */
export const apiOrigin = 'https://api.example.com'
export const apiPath = '/v1/orders'
export const apiUrl: string = apiOrigin + apiPath

let refuses = (_authorization: string): boolean => false
let slownessMs = 0
let calls = 0
const json = { 'content-type': 'application/json' }

/** Has the API answer 401 to such headers from now on. */
export function refuse(test: (authorization: string) => boolean): void {
  refuses = test
}

/** Has it take up to `ms` to answer, each call another time, so that answers overtake each other. */
export function answerWithin(ms: number): void {
  slownessMs = ms
}

/** The API itself, inside the measuring process: what is measured is the client and the token's part, no network. */
export function answerApi(authorization: string): number | Promise<number> {
  // Looked at when the request arrives, as a server does.
  const status = refuses(authorization) ? 401 : 200
  return slownessMs === 0 ? status : setTimeout((++calls * 7) % slownessMs, status)
}

const globalFetch = globalThis.fetch

/** `fetch` for everything that calls it: to the API inside, and out to the network for all else. */
globalThis.fetch = async (input, init) => {
  const url = input instanceof Request ? input.url : input.toString()
  if (!url.startsWith(apiUrl)) return globalFetch(input, init)
  const headers = init?.headers ?? (input instanceof Request ? input.headers : {})
  const status = answerApi(headerOf(headers))
  return new Response('{}', { status: typeof status === 'number' ? status : await status, headers: json })
}

function headerOf(headers: HeadersInit): string {
  if (headers instanceof Headers) return headers.get('authorization') ?? ''
  const record = headers as Record<string, string>
  return record['Authorization'] ?? record['authorization'] ?? ''
}
