import { createTokenAttacher, type Attachment, type AttachOptions, type TokenProvider } from '@tokenwell/core'
import {
  Axios,
  AxiosHeaders,
  getAdapter,
  type AxiosError,
  type AxiosInstance,
  type InternalAxiosRequestConfig,
} from 'axios'
import { conceal } from './conceal.ts'
import { isRepeatable } from './is-repeatable.ts'
import { waitForToken } from './wait-for-token.ts'

/** Where tokens may go, and how they travel. */
export interface AxiosAttachOptions extends Omit<AttachOptions, 'allowedOrigins'> {
  /** @default the origin of the instance's `baseURL` */
  readonly allowedOrigins?: AttachOptions['allowedOrigins'] | undefined
}

/**
 * Attaches tokens to the requests of an axios instance; a request whose token was refused is sent once more
 * with a new one, if its body can be. Without `allowedOrigins`, tokens go to the origin that the instance's
 * `baseURL` has now.
 *
 * @example
 * const api = axios.create({ baseURL: 'https://api.example.com' })
 * attachTokens(api, tokens)
 *
 * @returns what detaches them
 * @throws {TokenError} of kind `configuration`, naming the option; a request that got no token fails with an
 * `AxiosError` whose cause is a `TokenError`, and was not sent
 */
export function attachTokens(
  instance: AxiosInstance,
  tokens: TokenProvider,
  options: AxiosAttachOptions = {},
): () => void {
  const { allowedOrigins = originOf(instance.defaults.baseURL) } = options
  const attacher = createTokenAttacher(tokens, { ...options, allowedOrigins })
  const { header, followsRedirects } = attacher
  // Has no defaults: what counts is the request's own address.
  const addresses = new Axios({})

  async function send(config: InternalAxiosRequestConfig) {
    const adapter = getAdapter(config.adapter, config)
    const { baseURL, url, allowAbsoluteUrls } = config
    const address = addresses.getUri({ baseURL, url, allowAbsoluteUrls } as object)
    // Both become an Authorization header, which replaces any other.
    const authenticates = followsRedirects && (config.auth || /^[^/?#]*\/\/[^/?#]*@/.test(address))
    if (config.token === false || config.headers.has(header) || authenticates) return adapter(config)
    const started = performance.now()

    const sendWith = async ({ value }: Attachment) => {
      const headers = new AxiosHeaders(config.headers).set(header, value)
      // A copy: interceptors, errors and whoever sends the request again see the caller's own.
      const sent = { ...config, headers } as InternalAxiosRequestConfig
      if (config.timeout)
        sent.timeout = Math.max(1, Math.ceil(config.timeout - (performance.now() - started)))
      if (followsRedirects) sent.sensitiveHeaders = [...(config.sensitiveHeaders ?? []), header]
      else sent.maxRedirects = 0
      try {
        return { response: conceal(await adapter(sent), config) }
      } catch (error) {
        const { response } = conceal(error as AxiosError, config)
        if (response === undefined) throw error
        return { response, error }
      } finally {
        headers.delete(header)
      }
    }

    const wait = <Value>(get: (signal: AbortSignal) => Promise<Value>) => waitForToken(config, started, get)
    const attachment = await wait((signal) => attacher.attach(address, signal))
    if (attachment === undefined) return adapter(config)
    let { response, error } = await sendWith(attachment)
    const { status, headers, data } = response
    const readBody = () => (data?.slice ? new Response(data.slice(0, 16 * 1024)).text() : undefined)
    const answer = { status, headers: headers as Record<string, string>, readBody }
    const next = await wait((signal) =>
      attacher.reattach(attachment, answer, isRepeatable(config.data), signal),
    )
    if (next !== undefined) {
      // A stream nobody will read would keep its connection.
      data?.destroy?.()
      ;({ response, error } = await sendWith(next))
    }
    if (error) throw error
    return response
  }

  const interceptor = instance.interceptors.request.use(
    (config) => {
      const { adapter } = config
      config.adapter = (config) => send(Object.assign(config, { adapter }))
      return config
    },
    undefined,
    { synchronous: true },
  )
  return () => instance.interceptors.request.eject(interceptor)
}

/** The page's own where an address is relative to it. */
function originOf(baseURL: string | undefined): string[] {
  const base = (globalThis as { document?: { baseURI: string } }).document?.baseURI
  return baseURL !== undefined && URL.canParse(baseURL, base) ? [new URL(baseURL, base).origin] : []
}
