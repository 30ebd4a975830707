import type { KyInstance } from 'ky'
import type { FetchLike } from '@tokenwell/core'
import { toSpeechApiResponse } from '../../speech/speech-api-response.ts'
import type { SendRequest } from '../../speech/transcribe-recording.ts'

export function sendForm(api: KyInstance, base: string): SendRequest {
  return async ({ method, path, form, signal }) => {
    const response = await api(`${base}/transcriptions${path}`, {
      method,
      ...(form && { body: form }),
      signal: signal ?? null,
    })
    return toSpeechApiResponse(response)
  }
}

/**
 * Creates a `fetch` based on XMLHttpRequest, which reports the progress of an upload; `fetch` does not. It supports
 * text responses only.
 *
 * @param onUpload called with the uploaded part of the body, from 0 to 1
 */
export function createXhrFetch(onUpload: (fraction: number) => void): FetchLike {
  return async (input, init) => {
    const request = new Request(input, init)
    const body = await request.blob()
    return new Promise((resolve, reject) => {
      const xhr = new XMLHttpRequest()
      xhr.open(request.method, request.url)
      for (const [name, value] of request.headers) xhr.setRequestHeader(name, value)
      xhr.upload.addEventListener('progress', ({ loaded, total }) => onUpload(total > 0 ? loaded / total : 0))
      xhr.addEventListener('load', () => resolve(toResponse(xhr)))
      xhr.addEventListener('error', () => reject(new TypeError('Failed to fetch')))
      xhr.addEventListener('abort', () => reject(request.signal.reason))
      request.signal.addEventListener('abort', () => xhr.abort())
      if (request.signal.aborted) return reject(request.signal.reason)
      xhr.send(body)
    })
  }
}

function toResponse(xhr: XMLHttpRequest): Response {
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
