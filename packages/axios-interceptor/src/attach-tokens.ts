import {
  createTokenAttacher,
  isRepeatableBody,
  type AttachOptions,
  type TokenProvider,
} from '@tokenwell/core'
import * as axios from 'axios'
import { axiosErrorsOf } from './axios-errors.ts'
import { conceal } from './conceal.ts'

type Config = axios.InternalAxiosRequestConfig

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
  instance: axios.AxiosInstance,
  tokens: TokenProvider,
  options: Partial<AttachOptions> = {},
): () => void {
  const allowedOrigins = options.allowedOrigins ?? originOf(instance.defaults.baseURL)
  const attacher = createTokenAttacher(tokens, { ...options, allowedOrigins })
  const { header, followsRedirects } = attacher
  const errors = axiosErrorsOf(instance)
  // Without defaults: what counts is the request's own address.
  const addresses = new axios.Axios({})

  async function send(config: Config) {
    const { baseURL, url, allowAbsoluteUrls, timeout, data } = config
    const address = addresses.getUri({ baseURL, url, allowAbsoluteUrls } as object)
    const sendAsItIs = (own = config) => axios.getAdapter(own.adapter, own)(own)
    // Both become an Authorization header, which replaces any other.
    const authenticates = followsRedirects && (config.auth || /^[^/?#]*\/\/[^/?#]*@/.test(address))
    if (config.token === false || config.headers.has(header) || authenticates) return sendAsItIs()

    const deadline = performance.now() + (timeout ?? 0)
    const timeLeft = () => Math.max(1, Math.ceil(deadline - performance.now()))
    const patience = () => {
      const over = timeout ? AbortSignal.timeout(timeLeft()) : undefined
      const ends = [config.signal, config.cancelToken?.toAbortSignal(), over]
      return AbortSignal.any(ends.filter((end) => end instanceof AbortSignal))
    }
    const fail = (error: Error) => {
      throw errors.because(error, config)
    }
    const sendWith = async (value: string) => {
      const headers = config.headers.concat({ [header]: value }) as Config['headers']
      const sent = { ...config, headers, ...(timeout && { timeout: timeLeft() }), ...redirects(config) }
      try {
        return { response: conceal(await sendAsItIs(sent), config) }
      } catch (error) {
        const { response } = conceal(errors.adopt(error) as axios.AxiosError, config)
        if (response === undefined) throw error
        return { response, error }
      } finally {
        headers.delete(header)
      }
    }

    const attachment = await Promise.resolve(attacher.attach(address, patience)).catch(fail)
    if (attachment === undefined) return sendAsItIs()
    let { response, error } = await sendWith(attachment.value)
    if (response.status >= 400) {
      const next = await attacher
        .reattach(attachment, answerOf(response), isRepeatableBody(data), patience())
        .catch(fail)
      // A stream that nobody reads would keep its connection.
      if (next !== undefined) response.data?.destroy?.()
      if (next !== undefined) ({ response, error } = await sendWith(next.value))
    }
    if (error) throw error
    return response
  }

  function redirects({ sensitiveHeaders = [], fetchOptions }: Config): Partial<Config> {
    if (followsRedirects) return { sensitiveHeaders: [...sensitiveHeaders, header] }
    if (typeof XMLHttpRequest === 'undefined') return { maxRedirects: 0 }
    // XMLHttpRequest follows whatever one says; a page sees nothing of a redirect that fetch does not follow.
    return { adapter: 'fetch', fetchOptions: { ...fetchOptions, redirect: 'error' } }
  }

  const attached = ({ adapter, ...config }: Config): Config => ({
    ...config,
    adapter: (own) => send({ ...own, adapter } as Config),
  })
  const interceptor = instance.interceptors.request.use(attached, null, { synchronous: true })
  return () => instance.interceptors.request.eject(interceptor)
}

function answerOf({ status, headers, data, request }: axios.AxiosResponse) {
  const url: string | undefined = request?.responseURL ?? request?.res?.responseUrl
  const readBody = () => (data?.slice ? new Response(data.slice(0, 16 * 1024)).text() : undefined)
  return { status, headers: headers as Record<string, string>, url, readBody }
}

/** In a page, addresses may be relative to its own. */
function originOf(baseURL: string | undefined): string[] {
  const base = (globalThis as { document?: { baseURI: string } }).document?.baseURI
  return baseURL !== undefined && URL.canParse(baseURL, base) ? [new URL(baseURL, base).origin] : []
}
