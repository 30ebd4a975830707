import { configurationError } from '@tokenwell/core/protocol'
import { Axios, type InternalAxiosRequestConfig } from 'axios'

// Without defaults, because the configuration of a request is complete.
const axios = new Axios({})

/** The URL that axios sends a request to: `url`, relative to `baseURL`. */
export function requestUrl({ baseURL, url = '', allowAbsoluteUrls }: InternalAxiosRequestConfig): string {
  return axios.getUri({ baseURL, url, allowAbsoluteUrls } as object)
}

/** A URL of the same origin: for a plain path, simply `baseURL`, which is much cheaper. */
export function urlOfSameOrigin(config: InternalAxiosRequestConfig): string {
  const { baseURL, url = '' } = config
  return baseURL && isPath(url) ? baseURL : requestUrl(config)
}

function isPath(url: string): boolean {
  return /^(?:\/(?![/\\])|[\w.~-]+(?:[/?#]|$))/.test(url)
}

/**
 * The origin of a `baseURL`, which may be relative in a page.
 *
 * @throws {TokenError} of kind `configuration` for a relative one elsewhere
 */
export function baseOrigin(baseURL: string | undefined): string[] {
  if (baseURL === undefined) return []
  const base = (globalThis as { document?: { baseURI: string } }).document?.baseURI
  if (URL.canParse(baseURL, base)) return [new URL(baseURL, base).origin]
  throw configurationError(
    `allowedOrigins is missing, and baseURL "${baseURL}" has no origin. Set an absolute baseURL, or allowedOrigins.`,
  )
}
