import type { Attachment, TokenAttacher } from '@tokenwell/core/adapter'
import * as axios from 'axios'
import { createAxiosErrors } from './axios-errors.ts'
import { recordingEnv } from './final-url.ts'
import { inPage } from './redirected-request.ts'
import { redactAgents, redactError, redactResponse } from './redact.ts'
import { remainingTimeout } from './request-abort-signal.ts'
import { requestUrl } from './request-url.ts'

type Config = axios.InternalAxiosRequestConfig
type Response = axios.AxiosResponse

// Versions before 1.12 take one argument, and their fetch adapter no `fetch`.
const getAdapter: (adapter: Config['adapter'], config: Config) => (config: Config) => Promise<Response> =
  axios.getAdapter
const acceptsFetch = Number(axios.default.VERSION.split('.')[1]) >= 12

/** Sends a request through the adapter that axios itself would choose. */
export function sendByAdapter(config: Config, adapter = config.adapter): Promise<Response> {
  return getAdapter(adapter ?? axios.default.defaults.adapter, config)(config)
}

/** Sends a request without a token. It is redacted too: its socket may carry the next request, which has a token. */
export function sendWithoutToken(config: Config): Promise<Response> {
  return sendByAdapter(config).then(
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

/** Sends the requests of an instance with a token. */
export function createSendOnce(instance: Pick<axios.AxiosInstance, 'getUri'>, attacher: TokenAttacher) {
  const { header, followsRedirects, checksEveryResponse, replaceHeader } = attacher
  const errors = createAxiosErrors(instance)

  /** Rejects a request that got no token. */
  const notSent = (config: Config) => {
    return (error: Error): never => {
      throw errors.notSent(error, config)
    }
  }

  return {
    sendWithToken,
    notSent,
    networkError: (cause: Error, config: Config) => errors.networkError(cause, config),
  }

  /** Only the adapter sees the token, in a separate headers object; the caller's headers are restored afterwards. */
  function sendWithToken(
    attachment: Attachment,
    config: Config,
    startedAt: number,
    retry: (response: Response, error?: unknown) => Promise<Response>,
  ): Promise<Response> {
    const { isBound } = attachment
    const follows = followsRedirects && !isBound
    // Changed and restored, because copying axios's configuration costs more than everything else.
    const { headers } = config
    redactAgents(config)
    const withToken: Config['headers'] = Object.assign(new axios.AxiosHeaders(), headers)
    for (const name in attachment.headers) {
      // Whichever case the caller's header is in.
      if (replaceHeader || isBound) withToken.delete(name)
      withToken[name] = attachment.headers[name]!
    }
    config.headers = withToken
    const revert = change(config, {
      ...limits(config, startedAt),
      ...(acceptsFetch && inPage() && { env: recordingEnv(config) }),
      ...(follows ? withSafeRedirects(config, header) : withoutRedirects(config)),
    })
    const restoreConfig = (): void => {
      config.headers = headers
      revert()
    }
    // For axios, `validateStatus` tells success from failure.
    const needsCheck = ({ status }: Response) => status >= 300 || checksEveryResponse || isBound
    const succeed = (response: Response) => {
      restoreConfig()
      redactResponse(response, config)
      return needsCheck(response) ? retry(response) : response
    }
    const fail = (error: unknown) => {
      restoreConfig()
      const response = redactError(errors.adopt(error), config)
      if (response && needsCheck(response)) return retry(response, error)
      throw error
    }
    try {
      return sendByAdapter(config).then(succeed, fail)
    } catch (error) {
      restoreConfig()
      throw error
    }
  }

  function withoutRedirects({ fetchOptions }: Config): Partial<Config> {
    // Before 1.12, the fetch adapter does not read `maxRedirects`.
    if (!inPage()) return { maxRedirects: 0, fetchOptions: { ...fetchOptions, redirect: 'manual' } }
    // XMLHttpRequest always follows redirects; fetch can fail on them instead.
    return { adapter: 'fetch', fetchOptions: { ...fetchOptions, redirect: 'error' } }
  }
}

/**
 * Removes the token on a redirect to another origin: axios before 1.18 sends it to subdomains, for example. The fetch
 * adapter does not follow redirects.
 */
function withSafeRedirects(config: Config, header: string): Partial<Config> {
  const { beforeRedirect, fetchOptions } = config
  let origin: string | undefined
  return {
    ...(!inPage() && {
      fetchOptions: {
        ...fetchOptions,
        redirect: fetchOptions?.['redirect'] === 'error' ? 'error' : 'manual',
      },
    }),
    beforeRedirect(options, ...details) {
      origin ??= new URL(requestUrl(config)).origin
      beforeRedirect?.(options, ...details)
      const target = new URL(String(options['href'])).origin
      if (target === origin) return
      origin = target
      const headers = Object(options['headers']) as Record<string, unknown>
      for (const name in headers) if (name.toLowerCase() === header.toLowerCase()) delete headers[name]
    },
  }
}

function limits(config: Config, startedAt: number): Partial<Config> {
  const timeout = remainingTimeout(config, startedAt)
  return timeout === undefined ? {} : { timeout }
}

/** Applies changes and returns a function that reverts them. */
function change(config: Config, changes: Partial<Config>): () => void {
  const previous: Record<string, unknown> = {}
  for (const name in changes) previous[name] = config[name as keyof Config]
  Object.assign(config, changes)
  return () => Object.assign(config, previous)
}
