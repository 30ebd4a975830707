import { copyBody } from '@tokenwell/core/adapter'
import type { InternalAxiosRequestConfig as Config } from 'axios'

/**
 * Copies the mutable arguments that axios itself reads only when it sends a request: callers may change them while
 * the request waits for its token, or before it is sent again.
 */
export function copyArguments(config: Config): void {
  const { url, params, data } = config
  if (typeof url === 'object') config.url = String(url)
  if (params instanceof URLSearchParams) config.params = new URLSearchParams(params)
  if (typeof data === 'object') config.data = asBuffer(copyBody(data))
}

/** axios recognises a `Buffer`, which only Node has. */
function asBuffer(body: unknown): unknown {
  if (typeof Buffer === 'undefined' || !(body instanceof Uint8Array)) return body
  return Buffer.from(body.buffer)
}
