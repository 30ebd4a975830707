import {
  createTokenAttacher,
  isRepeatableBody,
  type AttachOptions,
  type TokenProvider,
} from '@tokenwell/core'
import * as axios from 'axios'
import { addressOf, originOf } from './address-of.ts'
import { axiosErrorsOf } from './axios-errors.ts'
import { conceal } from './conceal.ts'
import { createPatience, type Patience } from './patience.ts'

type Config = axios.InternalAxiosRequestConfig

interface Outcome {
  readonly response: axios.AxiosResponse
  readonly error?: unknown
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
  instance: axios.AxiosInstance,
  tokens: TokenProvider,
  options: Partial<AttachOptions> = {},
): () => void {
  const allowedOrigins = options.allowedOrigins ?? originOf(instance.defaults.baseURL)
  const attacher = createTokenAttacher(tokens, { ...options, allowedOrigins })
  const { header, followsRedirects } = attacher
  const errors = axiosErrorsOf(instance)
  const sensitive = [header]

  async function send(config: Config): Promise<axios.AxiosResponse> {
    const address = addressOf(config)
    // Both become an Authorization header, which replaces any other.
    const authenticates = followsRedirects && (config.auth || /^[^/?#]*\/\/[^/?#]*@/.test(address))
    if (config.token === false || config.headers.has(header) || authenticates) return transport(config)
    const patience = createPatience(config)
    const fail = (error: Error): never => {
      throw errors.because(error, config)
    }
    const found = attacher.attach(address, patience.signal)
    const attachment = found instanceof Promise ? await found.catch(fail) : found
    if (attachment === undefined) return transport(config)

    let outcome: Outcome = await sendWith(attachment.value, config, patience)
    if (outcome.response.status >= 400) {
      const repeatable = isRepeatableBody(config.data)
      const answer = answerOf(outcome.response)
      const next = await attacher.reattach(attachment, answer, repeatable, patience.signal()).catch(fail)
      if (next !== undefined) {
        // A stream that nobody reads would keep its connection.
        outcome.response.data?.destroy?.()
        outcome = await sendWith(next.value, config, patience)
      }
    }
    if (outcome.error) throw outcome.error
    return outcome.response
  }

  /** The transport alone sees the token, in headers of its own; whoever looks later finds the caller's. */
  function sendWith(value: string, config: Config, patience: Patience) {
    const callers = { headers: config.headers, sensitiveHeaders: config.sensitiveHeaders! }
    const headers: Config['headers'] = Object.assign(new axios.AxiosHeaders(), callers.headers)
    headers[header] = value
    // Changed and restored, because a copy of axios's configuration costs more than all the rest.
    config.headers = headers
    config.sensitiveHeaders = callers.sensitiveHeaders ? [...callers.sensitiveHeaders, header] : sensitive
    const others = { ...patience.timeLeft(), ...redirects(config) }
    const restore = config.timeout || !followsRedirects ? change(config, others) : undefined
    const settle = (): void => {
      delete headers[header]
      Object.assign(config, callers)
      restore?.()
    }
    return Promise.resolve(config)
      .then(transport)
      .then(
        (response) => {
          settle()
          return { response: conceal(response, config) }
        },
        (error: unknown) => {
          settle()
          const { response } = conceal(errors.adopt(error) as axios.AxiosError, config)
          if (response === undefined) throw error
          return { response, error }
        },
      )
  }

  function redirects({ fetchOptions }: Config): Partial<Config> {
    if (followsRedirects) return {}
    if (typeof XMLHttpRequest === 'undefined') return { maxRedirects: 0 }
    // XMLHttpRequest follows whatever one says; a page sees nothing of a redirect that fetch does not follow.
    return { adapter: 'fetch', fetchOptions: { ...fetchOptions, redirect: 'error' } }
  }

  const attached = (config: Config): Config => {
    const { adapter } = config
    config.adapter = (own) => send(Object.assign(own, { adapter }))
    return config
  }
  const interceptor = instance.interceptors.request.use(attached, null, { synchronous: true })
  return () => instance.interceptors.request.eject(interceptor)
}

/** Makes changes, and returns what undoes them. */
function change(config: Config, changes: Partial<Config>): () => void {
  const callers = Object.keys(changes).map((name) => [name, config[name as keyof Config]])
  Object.assign(config, changes)
  return () => Object.assign(config, Object.fromEntries(callers))
}

function transport(config: Config): Promise<axios.AxiosResponse> {
  return axios.getAdapter(config.adapter, config)(config)
}

function answerOf({ status, headers, data, request }: axios.AxiosResponse) {
  const url: string | undefined = request?.responseURL ?? request?.res?.responseUrl
  const readBody = () => (data?.slice ? new Response(data.slice(0, 16 * 1024)).text() : undefined)
  return { status, headers: headers as Record<string, string>, url, readBody }
}
