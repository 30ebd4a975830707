import { request } from 'node:http'
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
