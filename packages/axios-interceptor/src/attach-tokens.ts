import {
  createTokenAttacher,
  isRepeatableBody,
  type Attachment,
  type AttachOptions,
  type TokenProvider,
} from '@tokenwell/core'
import type { AxiosInstance, AxiosResponse, InternalAxiosRequestConfig as Config } from 'axios'
import { addressOf, originOf, sameOriginAs } from './address-of.ts'
import { patienceOf } from './patience.ts'
import { createTransport, transport } from './transport.ts'

/** An instance of axios, of whichever of its two sets of types: those for `import`, or those for `require`. */
export type AttachableInstance = Pick<AxiosInstance, 'defaults' | 'interceptors' | 'getUri'>

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
  instance: AttachableInstance,
  tokens: TokenProvider,
  options: Partial<AttachOptions> = {},
): () => void {
  const allowedOrigins = options.allowedOrigins ?? originOf(instance.defaults.baseURL)
  const attacher = createTokenAttacher(tokens, { ...options, allowedOrigins })
  const { header, followsRedirects } = attacher
  const { sendWith, notSent } = createTransport(instance, attacher)

  // A function decides by the whole address.
  const placeOf = allowedOrigins.every((origin) => typeof origin === 'string') ? sameOriginAs : addressOf

  function send(config: Config): Promise<AxiosResponse> {
    const place = placeOf(config)
    // Both become an Authorization header, which replaces any other.
    const authenticates =
      followsRedirects && (config.auth || (place.includes('@') && /^[^/?#]*\/\/[^/?#]*@/.test(place)))
    if (config.token === false || authenticates || carries(config.headers, header)) return transport(config)
    const began = config.timeout ? performance.now() : 0
    const found = attacher.attach(place, () => patienceOf(config, began))
    if (!(found instanceof Promise)) return sendAttached(found, config, began)
    return found.then((attachment) => sendAttached(attachment, config, began), notSent(config))
  }

  function sendAttached(attachment: Attachment | undefined, config: Config, began: number) {
    if (attachment === undefined) return transport(config)
    return sendWith(attachment.value, config, began, async (response, error) => {
      const repeatable = isRepeatableBody(config.data)
      const next = await attacher
        .reattach(attachment, answerOf(response), repeatable, patienceOf(config, began))
        .catch(notSent(config))
      if (next !== undefined) {
        // A stream that nobody reads would keep its connection.
        response.data?.destroy?.()
        return sendWith(next.value, config, began)
      }
      if (error) throw error
      return response
    })
  }

  const attached = (config: Config): Config => {
    const { adapter } = config
    config.adapter = (own) => {
      own.adapter = adapter!
      return send(own)
    }
    return config
  }
  const interceptor = instance.interceptors.request.use(attached, null, { synchronous: true })
  return () => instance.interceptors.request.eject(interceptor)
}

/** Like `headers.has(name)`, in a fraction of the time. */
function carries(headers: Config['headers'], name: string): boolean {
  for (const own in headers) {
    if (own.length === name.length && own.toLowerCase() === name.toLowerCase() && headers[own] !== undefined)
      return true
  }
  return false
}

function answerOf({ status, headers, data, request }: AxiosResponse) {
  const url: string | undefined = request?.responseURL ?? request?.res?.responseUrl
  const readBody = () => (data?.slice ? new Response(data.slice(0, 16 * 1024)).text() : undefined)
  return { status, headers: headers as Record<string, string>, url, readBody }
}
