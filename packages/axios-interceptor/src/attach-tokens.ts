import type { AttachableTokens, AttachOptions } from '@tokenwell/core'
import {
  createTokenAttacher,
  isRepeatableBody,
  type Attachment,
  type AttachRequest,
  type SentRequest,
} from '@tokenwell/core/adapter'
import { configurationError } from '@tokenwell/core/protocol'
import type { AxiosAdapter, AxiosInstance, AxiosResponse, InternalAxiosRequestConfig as Config } from 'axios'
import { createAxiosErrors, redactOutcome, type Outcome } from './outcome.ts'
import { finalUrl, redirectedRequest, wasRedirected } from './redirects.ts'
import { abortSignalOf, startTime } from './request-abort-signal.ts'
import { copyArguments, isWithoutToken, requestUrl, urlOfSameOrigin } from './request-config.ts'
import { acceptsFetch, sendByAdapter, sendOnce } from './send-once.ts'

/** An axios instance, with the type declarations for `import` or those for `require`. */
export type AttachableInstance = Pick<AxiosInstance, 'defaults' | 'interceptors' | 'getUri'>

/**
 * Attaches tokens to the requests of an axios instance. If the API rejects a token, the request is sent once more with
 * a new one, unless its body is a stream. Without `allowedOrigins`, tokens are sent to the origin that the instance's
 * `baseURL` has when this function is called.
 *
 * @example
 * const api = axios.create({ baseURL: 'https://api.example.com' })
 * attachTokens(api, tokens)
 *
 * @returns a function that removes the interceptor
 * @throws {TokenError} of kind `configuration`, naming the option; a request that gets no token is not sent and fails
 * with an `AxiosError` whose cause is a `TokenError`
 */
export function attachTokens(
  instance: AttachableInstance,
  tokens: AttachableTokens,
  options: AttachOptions = {},
): () => void {
  if (!instance?.defaults || !instance.interceptors) {
    throw configurationError(
      'The first argument of attachTokens is not an axios instance: it has no defaults and interceptors. ' +
        'If a test mocks axios, mock the requests instead, as docs/testing.md describes.',
    )
  }
  const { allowedOrigins = [], replaceHeader = false } = options
  const base = { option: 'baseURL', url: instance.defaults.baseURL }
  const attacher = createTokenAttacher(tokens, options, base)
  const { header } = attacher
  const isAuthorization = header.toLowerCase() === 'authorization'
  const errors = createAxiosErrors(instance)

  // A function may check the whole URL.
  const urlOf = allowedOrigins.every((origin) => typeof origin === 'string') ? urlOfSameOrigin : requestUrl

  function send(config: Config): Promise<AxiosResponse> {
    copyArguments(config)
    const url = urlOf(config)
    // axios turns both into an Authorization header, which replaces any other.
    const hasCredentials =
      isAuthorization && (config.auth || (url.includes('@') && /^[^/?#]*\/\/[^/?#]*@/.test(url)))
    const startedAt = startTime(config)
    const sendOptions = { errors, header, replaceHeader, startedAt }
    if (isWithoutToken(config) || (hasCredentials && replaceHeader)) {
      return sendOnce(config, undefined, sendOptions).then(responseOf)
    }
    const hasHeader = Boolean(hasCredentials) || (!replaceHeader && containsHeader(config.headers, header))
    let request = new AxiosRequest(config, url, hasHeader)
    let failure: unknown

    /** Sends it, and follows the redirects of axios' fetch adapter. It is sent again to where they have led. */
    async function sendFollowing(attachment: Attachment | undefined): Promise<SentRequest<Outcome>> {
      for (let carried = attachment; ;) {
        const outcome = await sendOnce(request.config, carried, sendOptions)
        const redirected = carried?.followsRedirects ? redirectOf(outcome.response) : undefined
        if (redirected === undefined) return new SentByAxios(outcome, request, carried !== undefined)
        discard(outcome.response)
        const keepsToken = redirected.keepsToken && carried?.allows?.(new URL(redirected.url)) !== false
        if (!keepsToken) carried = undefined
        request = new AxiosRequest(redirected.config, redirected.url, hasHeader, request.redirects + 1)
        sending.add(request.config)
      }
    }

    function redirectOf(response: AxiosResponse) {
      try {
        return redirectedRequest(request.config, response, request.redirects)
      } catch (error) {
        throw errors.networkError(error as Error, config)
      }
    }

    const watch = abortSignalOf(config, startedAt)
    return attacher
      .send(request, watch.signal, (attachment) =>
        sendFollowing(attachment).catch((error: unknown) => {
          failure = error
          throw error
        }),
      )
      .then(
        (outcome) => {
          watch.stop()
          // As if the adapter had followed the redirects.
          if (request.redirects > 0) redactOutcome(outcome, config)
          return responseOf(outcome)
        },
        (error: Error) => {
          watch.stop()
          if (error !== failure) throw errors.notSent(error, config)
          if (request.redirects > 0) redactOutcome({ error }, config)
          throw error
        },
      )
  }

  const wrappers = new WeakSet<AxiosAdapter>()
  const sending = new WeakSet<Config>()

  function wrapAdapter(config: Config): void {
    const { adapter } = config
    if (typeof adapter === 'function' && wrappers.has(adapter)) return
    const wrapper: AxiosAdapter = (request) => {
      // The adapter of an interceptor may call the one that it replaced.
      if (sending.has(request)) return sendByAdapter(request, adapter)
      sending.add(request)
      request.adapter = adapter!
      return send(request).finally(() => sending.delete(request))
    }
    wrappers.add(wrapper)
    config.adapter = wrapper
  }

  /**
   * Interceptors registered earlier run after this one. They may replace the adapter, which is wrapped again when the
   * transforms have run, or the transforms.
   */
  function prepare(config: Config): Config {
    const { transformRequest } = config
    const wrapWhenTransformed = function (this: Config, data: unknown) {
      this.transformRequest = transformRequest!
      wrapAdapter(this)
      return data
    }
    config.transformRequest = [transformRequest ?? [], wrapWhenTransformed].flat()
    wrapAdapter(config)
    return config
  }

  const { request } = instance.interceptors
  const id: number = request.use(prepare, null, { synchronous: true })
  return () => request.eject(id)
}

/** A request of axios, as an attacher sees it. */
class AxiosRequest implements AttachRequest {
  readonly config: Config
  readonly url: string
  readonly hasHeader: boolean
  /** How many redirects led to it. */
  readonly redirects: number
  readonly repeatable: boolean

  constructor(config: Config, url: string, hasHeader: boolean, redirects = 0) {
    this.config = config
    this.url = url
    this.hasHeader = hasHeader
    this.redirects = redirects
    this.repeatable = isRepeatableBody(config.data)
  }

  get method(): string {
    // Set by axios, for every request.
    return this.config.method!
  }

  target(): string {
    return requestUrl(this.config)
  }
}

class SentByAxios implements SentRequest<Outcome> {
  readonly result: Outcome
  readonly request: AxiosRequest
  readonly hasToken: boolean

  constructor(result: Outcome, request: AxiosRequest, hasToken: boolean) {
    this.result = result
    this.request = request
    this.hasToken = hasToken
  }

  get status(): number {
    return this.result.response.status
  }

  get headers(): Record<string, string> {
    return (this.result.response.headers ?? {}) as Record<string, string>
  }

  get url(): string | undefined {
    return finalUrl(this.result.response)
  }

  readBody(): string | undefined | Promise<string> {
    return readStart(this.result.response.data)
  }

  /** A 401 after a redirect says nothing about the request that was redirected: it may have succeeded. */
  isRepeatable(): boolean {
    const { method, repeatable } = this.request
    if (!repeatable) return false
    // axios before 1.12 does not show whether `fetch` followed a redirect; without a token, nothing was done that needs one.
    if (!this.hasToken && !acceptsFetch()) return true
    return /^(?:get|head)$/i.test(method) || !wasRedirected(this.result.response, this.request.target())
  }

  discard(): void {
    discard(this.result.response)
  }
}

function responseOf({ response, error }: Outcome): AxiosResponse {
  if (error) throw error
  return response
}

/** An unread stream would keep its connection open. */
function discard({ data }: AxiosResponse): void {
  data?.destroy?.()
  data?.cancel?.().catch(() => {})
}

/** Like `headers.has(name)`, in a fraction of the time. */
function containsHeader(headers: Config['headers'], name: string): boolean {
  for (const key in headers) {
    if (key.length === name.length && key.toLowerCase() === name.toLowerCase() && headers[key] !== undefined)
      return true
  }
  return false
}

function readStart(data: AxiosResponse['data']): string | undefined | Promise<string> {
  const start = data?.slice?.(0, 16 * 1024)
  if (start === undefined || typeof start === 'string') return start
  // Jest's jsdom environment has no Response.
  return typeof Response === 'undefined' ? undefined : new Response(start).text()
}
