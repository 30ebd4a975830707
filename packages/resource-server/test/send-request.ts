import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'

export interface ApiResponse {
  readonly status: number
  readonly challenge: string | undefined
  readonly retryAfter: string | undefined
  readonly body: unknown
}

/** Sends a GET request; a header may be sent more than once, as `fetch` never does. */
export function sendRequest(url: string, headers: Record<string, string | string[]>): Promise<ApiResponse> {
  return new Promise((resolve, reject) => {
    request(url, { headers }, (response) => {
      const { 'www-authenticate': challenge, 'retry-after': retryAfter } = response.headers
      text(response).then(
        (body) =>
          resolve({
            status: response.statusCode!,
            challenge,
            retryAfter,
            body: body === '' ? undefined : parse(body),
          }),
        reject,
      )
    })
      .on('error', reject)
      .end()
  })
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return body
  }
}

/** Sends a GET request as it is, with a target and a `Host` that no HTTP client sends; returns the status. */
export async function sendRawRequest(
  origin: string,
  target: string,
  headers: readonly (readonly [name: string, value: string])[],
): Promise<number> {
  const { hostname, port } = new URL(origin)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  const lines = [`GET ${target} HTTP/1.1`, ...headers.map(([name, value]) => `${name}: ${value}`)]
  socket.write([...lines, 'Connection: close', '', ''].join('\r\n'), 'latin1')
  const response = await text(socket)
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(response)?.[1])
}
