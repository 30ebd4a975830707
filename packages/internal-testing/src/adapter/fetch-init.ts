import { PassThrough } from 'node:stream'
import type { AdapterRequest } from './adapter-under-test.ts'

interface FetchInit extends RequestInit {
  readonly duplex?: 'half'
}

/** Translates a request of the suite into the options of `fetch`, for `fetch` itself and clients like it. */
export function toFetchInit({ body, method, headers, signal, timeoutMs }: AdapterRequest): FetchInit {
  const init = {
    method: method ?? (body ? 'POST' : 'GET'),
    headers: { ...headers },
    signal: withTimeout(signal, timeoutMs),
  }
  switch (body?.kind) {
    case undefined:
      return init
    case 'json':
      return {
        ...init,
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body.value),
      }
    case 'Node stream':
    case 'web stream':
      return { ...init, body: body.value as unknown as BodyInit, duplex: 'half' }
    case 'form-data package':
      return {
        ...init,
        headers: { ...body.value.getHeaders(), ...headers },
        body: body.value.pipe(new PassThrough()) as unknown as BodyInit,
        duplex: 'half',
      }
    case 'URLSearchParams':
    case 'FormData':
    case 'Buffer':
      return { ...init, body: body.value }
  }
}

function withTimeout(signal: AbortSignal | undefined, ms: number | undefined): AbortSignal | null {
  const signals = [...(signal ? [signal] : []), ...(ms === undefined ? [] : [AbortSignal.timeout(ms)])]
  return signals.length > 0 ? AbortSignal.any(signals) : null
}
