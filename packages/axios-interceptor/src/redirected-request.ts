import { maxRedirects, networkError, readRedirect } from '@tokenwell/core/adapter'
import { AxiosHeaders, type AxiosResponse, type InternalAxiosRequestConfig as Config } from 'axios'

/** Pages do not show where a redirect leads, but their `fetch` and XMLHttpRequest drop the token on the way. */
export const inPage = (): boolean => typeof XMLHttpRequest !== 'undefined'

/**
 * Whether the redirects of axios' fetch adapter are followed here: some implementations of `fetch` send the token to another
 * origin.
 */
function followsHere({ fetchOptions, maxRedirects }: Config): boolean {
  const { redirect = 'follow' } = Object(fetchOptions) as RequestInit
  return redirect === 'follow' && maxRedirects !== 0 && !inPage()
}

/** The request that a redirect leads to. */
export interface RedirectedRequest {
  readonly config: Config
  readonly url: string
  /** Whether it is sent to the same origin, with the token. */
  readonly keepsToken: boolean
}

/**
 * The request that a response redirects to; undefined for other responses, and those of other adapters, which follow
 * redirects themselves.
 *
 * @param count how many redirects led to this response
 * @throws {TypeError} as `fetch` does
 */
export function redirectedRequest(
  config: Config,
  { request, status, headers }: AxiosResponse,
  count: number,
): RedirectedRequest | undefined {
  if (request?.redirect !== 'manual' || !followsHere(config)) return undefined
  // fetch reads streams once, and sends other objects as text.
  const repeatable = !(Symbol.asyncIterator in Object(config.data))
  const sent = { url: String(request.url), method: config.method!, repeatable }
  const redirect = readRedirect(sent, { status, headers: headers as Record<string, string> })
  if (!redirect) return undefined
  if (count >= maxRedirects) throw networkError('redirect count exceeded')
  const { url, method, keepsBody, droppedHeaders } = redirect
  const next: Config = { ...config, url: url.href, method, headers: new AxiosHeaders(config.headers) }
  for (const name of droppedHeaders) next.headers.delete(name)
  // The URL is complete.
  delete next.baseURL
  delete next.params
  if (!keepsBody) delete next.data
  return { config: next, url: url.href, keepsToken: url.origin === new URL(sent.url).origin }
}
