import type { InternalAxiosRequestConfig as Config } from 'axios'

/**
 * Copies the mutable arguments that axios itself reads only when it sends a request: callers may change them while
 * the request waits for its token, or before it is sent again.
 */
export function copyArguments(config: Config): void {
  const { url, params, data } = config
  if (typeof url === 'object') config.url = String(url)
  if (params instanceof URLSearchParams) config.params = new URLSearchParams(params)
  if (typeof data === 'object') config.data = copyBody(data)
}

function copyBody(body: unknown): unknown {
  if (body instanceof FormData) {
    const copy = new FormData()
    for (const [name, value] of body) copy.append(name, value)
    return copy
  }
  if (body instanceof ArrayBuffer) return body.slice(0)
  if (!ArrayBuffer.isView(body)) return body
  const { buffer, byteOffset, byteLength } = body
  const bytes = new Uint8Array(buffer, byteOffset, byteLength)
  // axios recognises a Buffer, which only Node has.
  return typeof Buffer === 'undefined' ? bytes.slice() : Buffer.from(bytes)
}
