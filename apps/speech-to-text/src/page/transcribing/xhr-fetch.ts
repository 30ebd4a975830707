import type { FetchLike } from '@tokenwell/core'

/**
 * `fetch` by means of XMLHttpRequest, for the one thing that `fetch` does not tell: how much of a body has
 * been sent. For answers that are texts.
 *
 * @param onSent called with the share that has been sent, from 0 to 1
 */
export function createXhrFetch(onSent: (share: number) => void): FetchLike {
  return async (input, init) => {
    const request = new Request(input, init)
    const body = await request.blob()
    return new Promise((resolve, reject) => {
      const xhr = new XMLHttpRequest()
      xhr.open(request.method, request.url)
      for (const [name, value] of request.headers) xhr.setRequestHeader(name, value)
      xhr.upload.addEventListener('progress', ({ loaded, total }) => onSent(total > 0 ? loaded / total : 0))
      xhr.addEventListener('load', () => resolve(responseOf(xhr)))
      xhr.addEventListener('error', () => reject(new TypeError('Failed to fetch')))
      xhr.addEventListener('abort', () => reject(request.signal.reason))
      request.signal.addEventListener('abort', () => xhr.abort())
      if (request.signal.aborted) return reject(request.signal.reason)
      xhr.send(body)
    })
  }
}

function responseOf(xhr: XMLHttpRequest): Response {
  const headers = new Headers()
  for (const line of xhr.getAllResponseHeaders().trim().split('\r\n')) {
    const [name, ...value] = line.split(': ')
    if (name) headers.append(name, value.join(': '))
  }
  return new Response([204, 304].includes(xhr.status) ? null : xhr.responseText, {
    status: xhr.status,
    headers,
  })
}
