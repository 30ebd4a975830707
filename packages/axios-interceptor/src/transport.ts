import type { TokenAttacher } from '@tokenwell/core'
import * as axios from 'axios'
import { axiosErrorsOf } from './axios-errors.ts'
import { concealIn, concealInError } from './conceal.ts'
import { timeLeft } from './patience.ts'

type Config = axios.InternalAxiosRequestConfig
type Response = axios.AxiosResponse

/** The adapter that axios itself would choose. */
export function transport(config: Config): Promise<Response> {
  const { adapter } = config
  return typeof adapter === 'function' ? adapter(config) : axios.getAdapter(adapter, config)(config)
}

/** Sends requests of an instance with a token. */
export function createTransport(instance: Pick<axios.AxiosInstance, 'getUri'>, attacher: TokenAttacher) {
  const { header, followsRedirects } = attacher
  const errors = axiosErrorsOf(instance)

  /** Fails a request that got no token. */
  const notSent = (config: Config) => {
    return (error: Error): never => {
      throw errors.because(error, config)
    }
  }

  return { sendWith, notSent }

  /** The transport alone sees the token, in headers of its own; whoever looks later finds the caller's. */
  function sendWith(
    value: string,
    config: Config,
    began: number,
    refused?: (response: Response, error?: unknown) => Promise<Response>,
  ): Promise<Response> {
    // Changed and restored, because a copy of axios's configuration costs more than all the rest.
    const { headers, sensitiveHeaders = [] } = config
    // That it is sensitive is no secret, and holds for whatever is made of this configuration later.
    if (!sensitiveHeaders.includes(header)) config.sensitiveHeaders = [...sensitiveHeaders, header]
    const own: Config['headers'] = Object.assign(new axios.AxiosHeaders(), headers)
    own[header] = value
    config.headers = own
    const restore =
      config.timeout || !followsRedirects
        ? change(config, { ...limits(config, began), ...redirects(config) })
        : undefined
    const settle = (): void => {
      config.headers = headers
      restore?.()
    }
    const answered = (response: Response) => {
      settle()
      concealIn(response, config)
      return refused && response.status >= 400 ? refused(response) : response
    }
    const failed = (error: unknown) => {
      settle()
      const response = concealInError(errors.adopt(error), config)
      if (refused && response && response.status >= 400) return refused(response, error)
      throw error
    }
    try {
      return transport(config).then(answered, failed)
    } catch (error) {
      settle()
      throw error
    }
  }

  function redirects({ fetchOptions }: Config): Partial<Config> {
    if (followsRedirects) return {}
    if (typeof XMLHttpRequest === 'undefined') return { maxRedirects: 0 }
    // XMLHttpRequest follows whatever one says; a page sees nothing of a redirect that fetch does not follow.
    return { adapter: 'fetch', fetchOptions: { ...fetchOptions, redirect: 'error' } }
  }
}

function limits(config: Config, began: number): Partial<Config> {
  return config.timeout ? { timeout: timeLeft(config, began) } : {}
}

/** Makes changes, and returns what undoes them. */
function change(config: Config, changes: Partial<Config>): () => void {
  const callers = Object.keys(changes).map((name) => [name, config[name as keyof Config]])
  Object.assign(config, changes)
  return () => Object.assign(config, Object.fromEntries(callers))
}
