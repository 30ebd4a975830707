import type { AttachOptions, TokenProvider, TokenProviderSelector } from '@tokenwell/core'
import {
  createTokenAttacher,
  isRepeatableBody,
  type Attachment,
  type AttachRequest,
} from '@tokenwell/core/adapter'
import type { AxiosAdapter, AxiosInstance, AxiosResponse, InternalAxiosRequestConfig as Config } from 'axios'
import { copyArguments } from './copy-arguments.ts'
import { finalUrl, wasRedirected } from './final-url.ts'
import { redirectedRequest, type RedirectedRequest } from './redirected-request.ts'
import { redactError, redactResponse } from './redact.ts'
import { baseOrigin, requestUrl, urlOfSameOrigin } from './request-url.ts'
import { startTime, abortSignalOf } from './request-abort-signal.ts'
import { createSendOnce, sendByAdapter, sendWithoutToken } from './send-once.ts'
import { isWithoutToken } from './without-token.ts'

/** An axios instance, with the type declarations for `import` or those for `require`. */
export type AttachableInstance = Pick<AxiosInstance, 'defaults' | 'interceptors' | 'getUri'>

interface RepeatableRequest extends AttachRequest {
  readonly repeatable: boolean
  readonly target: () => string
  /** How many redirects led to it. */
  readonly redirects: number
}

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
  tokens: TokenProvider | TokenProviderSelector,
  options: Partial<AttachOptions> = {},
): () => void {
  const allowedOrigins = options.allowedOrigins ?? baseOrigin(instance.defaults.baseURL)
  const attacher = createTokenAttacher(tokens, { ...options, allowedOrigins })
  const { header, followsRedirects, replaceHeader } = attacher
  const { sendWithToken, notSent, networkError } = createSendOnce(instance, attacher)

  // A function may check the whole URL.
  const urlOf = allowedOrigins.every((origin) => typeof origin === 'string') ? urlOfSameOrigin : requestUrl

  function send(config: Config): Promise<AxiosResponse> {
    copyArguments(config)
    const url = urlOf(config)
    // axios turns both into an Authorization header, which replaces any other.
    const hasCredentials =
      followsRedirects && (config.auth || (url.includes('@') && /^[^/?#]*\/\/[^/?#]*@/.test(url)))
    if (isWithoutToken(config) || (hasCredentials && replaceHeader)) return sendWithoutToken(config)
    const request = {
      // Set by axios, for every request.
      method: config.method!,
      url,
      target: () => requestUrl(config),
      hasHeader: Boolean(hasCredentials) || (!replaceHeader && hasHeader(config.headers, header)),
      repeatable: isRepeatableBody(config.data),
      redirects: 0,
    }
    const startedAt = startTime(config)
    const watch = abortSignalOf(config, startedAt)
    return attacher.attach(request, watch.signal).then(
      (attachment) => {
        watch.stop()
        return sendAttached(request, attachment, config, startedAt)
      },
      (error: Error) => {
        watch.stop()
        return notSent(config)(error)
      },
    )
  }

  function sendAttached(
    request: RepeatableRequest,
    attachment: Attachment | undefined,
    config: Config,
    startedAt: number,
  ): Promise<AxiosResponse> {
    if (attachment === undefined) return sendWithheld(request, config)
    return sendWithToken(attachment, config, startedAt, async (response, error) => {
      const follows = followsRedirects && !attachment.isBound
      const redirected = follows ? redirectOf(request, config, response) : undefined
      if (redirected) {
        discard(response)
        return followRedirect(request, attachment, config, redirected, startedAt)
      }
      const watch = abortSignalOf(config, startedAt)
      const next = await attacher
        .retryAttachment(
          request,
          attachment,
          toApiResponse(response),
          canRepeat(request, response),
          watch.signal,
        )
        .finally(() => watch.stop())
        .catch(notSent(config))
      if (next !== undefined) {
        discard(response)
        return sendAttached(request, next, config, startedAt)
      }
      if (error) throw error
      return response
    })
  }

  function redirectOf({ redirects }: RepeatableRequest, config: Config, response: AxiosResponse) {
    try {
      return redirectedRequest(config, response, redirects)
    } catch (error) {
      throw networkError(error as Error, config)
    }
  }

  /** The outcome has the configuration of the first request, as if the adapter had followed the redirect. */
  function followRedirect(
    request: RepeatableRequest,
    attachment: Attachment,
    config: Config,
    redirected: RedirectedRequest,
    startedAt: number,
  ): Promise<AxiosResponse> {
    const { config: next, url, keepsToken } = redirected
    const about: RepeatableRequest = {
      ...request,
      method: next.method!,
      url,
      target: () => url,
      repeatable: isRepeatableBody(next.data),
      redirects: request.redirects + 1,
    }
    sending.add(next)
    return sendAttached(about, keepsToken ? attachment : undefined, next, startedAt).then(
      (response) => {
        redactResponse(response, config)
        return response
      },
      (error: unknown) => {
        redactError(error, config)
        throw error
      },
    )
  }

  /** A 401 to a request without a token is explained once. */
  function sendWithheld(request: AttachRequest, config: Config): Promise<AxiosResponse> {
    const explain = (response: AxiosResponse | undefined): void => {
      if (response?.status === 401)
        void attacher.retryAttachment(request, undefined, toApiResponse(response), false)
    }
    return sendWithoutToken(config).then(
      (response) => {
        explain(response)
        return response
      },
      (error: unknown) => {
        explain(Object(error).response)
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

/** A 401 after a redirect says nothing about the request that was redirected: it may have succeeded. */
function canRepeat({ method, repeatable, target }: RepeatableRequest, response: AxiosResponse): boolean {
  return repeatable && (/^(?:get|head)$/i.test(method) || !wasRedirected(response, target()))
}

/** An unread stream would keep its connection open. */
function discard({ data }: AxiosResponse): void {
  data?.destroy?.()
  data?.cancel?.().catch(() => {})
}

/** Like `headers.has(name)`, in a fraction of the time. */
function hasHeader(headers: Config['headers'], name: string): boolean {
  for (const key in headers) {
    if (key.length === name.length && key.toLowerCase() === name.toLowerCase() && headers[key] !== undefined)
      return true
  }
  return false
}

function toApiResponse(response: AxiosResponse) {
  const { status, headers, data } = response
  const readBody = () => readStart(data)
  return { status, headers: (headers ?? {}) as Record<string, string>, url: finalUrl(response), readBody }
}

function readStart(data: AxiosResponse['data']): string | undefined | Promise<string> {
  const start = data?.slice?.(0, 16 * 1024)
  if (start === undefined || typeof start === 'string') return start
  // Jest's jsdom environment has no Response.
  return typeof Response === 'undefined' ? undefined : new Response(start).text()
}
