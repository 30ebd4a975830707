import { copyBody } from '@tokenwell/core/adapter'
import * as namespace from 'axios'

type Config = namespace.InternalAxiosRequestConfig

let installed:
  | {
      readonly axios: Pick<namespace.AxiosInstance, 'getUri'>
      readonly minor: number
      readonly patch: number
    }
  | undefined

/** What is read of the axios that is installed: at the first request, because tests load this file with a mocked one. */
export function installedAxios(): NonNullable<typeof installed> {
  if (installed !== undefined) return installed
  const [, minor = 0, patch = 0] = namespace.default.VERSION.split('.').map(Number)
  // Without defaults, because the configuration of a request is complete.
  return (installed = { axios: new namespace.Axios({}), minor, patch })
}

/** The URL that axios sends a request to: `url`, relative to `baseURL`. */
export function requestUrl({ baseURL, url = '', allowAbsoluteUrls }: Config): string {
  const { axios, minor, patch } = installedAxios()
  // From 1.8.0 to 1.8.2, only `getUri` reads it, and the request goes to the absolute URL.
  const adaptersReadAllowAbsoluteUrls = minor > 8 || (minor === 8 && patch >= 3)
  return axios.getUri({ baseURL, url, ...(adaptersReadAllowAbsoluteUrls && { allowAbsoluteUrls }) } as object)
}

/** A URL of the same origin: for a plain path, simply `baseURL`, which is much cheaper. */
export function urlOfSameOrigin(config: Config): string {
  const { baseURL, url = '' } = config
  return baseURL && isPath(url) ? baseURL : requestUrl(config)
}

function isPath(url: string): boolean {
  return /^(?:\/(?![/\\])|[\w.~-]+(?:[/?#]|$))/.test(url)
}

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

/**
 * Sends one request without a token. An object without visible members, because the type of axios' configuration cannot
 * be extended for all of its versions.
 *
 * @example
 * await api.get('/health', { ...withoutToken, timeout: 1000 })
 */
export const withoutToken: object = { token: false }

/** Whether a request was made with {@link withoutToken}. */
export function isWithoutToken(config: object): boolean {
  return (config as { readonly token?: unknown }).token === false
}
