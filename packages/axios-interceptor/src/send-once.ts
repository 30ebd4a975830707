import type { Attachment, TokenAttacher } from '@tokenwell/core/adapter'
import * as axios from 'axios'
import { createAxiosErrors } from './axios-errors.ts'
import { redactAgents, redactError, redactResponse } from './redact.ts'
import { remainingTimeout } from './request-abort-signal.ts'

type Config = axios.InternalAxiosRequestConfig
type Response = axios.AxiosResponse

/** Sends a request through the adapter that axios itself would choose. */
function sendByAdapter(config: Config): Promise<Response> {
  return axios.getAdapter(config.adapter ?? axios.default.defaults.adapter, config)(config)
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
  const { followsRedirects, checksEveryResponse, replaceHeader } = attacher
  const errors = createAxiosErrors(instance)

  /** Rejects a request that got no token. */
  const notSent = (config: Config) => {
    return (error: Error): never => {
      throw errors.notSent(error, config)
    }
  }

  return { sendWithToken, notSent }

  /** Only the adapter sees the token, in a separate headers object; the caller's headers are restored afterwards. */
  function sendWithToken(
    attachment: Attachment,
    config: Config,
    startedAt: number,
    retry: (response: Response, error?: unknown) => Promise<Response>,
  ): Promise<Response> {
    const { isBound, isReplacement } = attachment
    const follows = followsRedirects && !isBound
    // Changed and restored, because copying axios's configuration costs more than everything else.
    const { headers } = config
    // Not restored: the header stays sensitive in configurations derived from this one.
    for (const name in attachment.headers) {
      const sensitiveHeaders = config.sensitiveHeaders ?? []
      if (!sensitiveHeaders.includes(name)) config.sensitiveHeaders = [...sensitiveHeaders, name]
    }
    redactAgents(config)
    const withToken: Config['headers'] = Object.assign(new axios.AxiosHeaders(), headers)
    for (const name in attachment.headers) {
      // Whichever case the caller's header is in.
      if (replaceHeader || isBound) withToken.delete(name)
      withToken[name] = attachment.headers[name]!
    }
    config.headers = withToken
    const revert =
      startedAt || !follows
        ? change(config, { ...limits(config, startedAt), ...(follows ? {} : withoutRedirects(config)) })
        : undefined
    const restoreConfig = (): void => {
      config.headers = headers
      revert?.()
    }
    // For axios, `validateStatus` tells success from failure.
    const needsCheck = ({ status }: Response) =>
      status >= 400 || checksEveryResponse || isBound || isReplacement
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
    if (typeof XMLHttpRequest === 'undefined') return { maxRedirects: 0 }
    // XMLHttpRequest always follows redirects; fetch can fail on them instead.
    return { adapter: 'fetch', fetchOptions: { ...fetchOptions, redirect: 'error' } }
  }
}

function limits(config: Config, startedAt: number): Partial<Config> {
  const timeout = remainingTimeout(config, startedAt)
  return timeout === undefined ? {} : { timeout }
}

/** Applies changes and returns a function that reverts them. */
function change(config: Config, changes: Partial<Config>): () => void {
  const previous = Object.keys(changes).map((name) => [name, config[name as keyof Config]])
  Object.assign(config, changes)
  return () => Object.assign(config, Object.fromEntries(previous))
}
