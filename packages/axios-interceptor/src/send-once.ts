import type { Attachment } from '@tokenwell/core/adapter'
import * as axios from 'axios'
import { redactAgents, redactOutcome, type AxiosErrors, type Outcome } from './outcome.ts'
import { inPage, recordingEnv } from './redirects.ts'
import { remainingTimeout } from './request-abort-signal.ts'
import { installedAxios, requestUrl } from './request-config.ts'

type Config = axios.InternalAxiosRequestConfig
type Response = axios.AxiosResponse

type GetAdapter = (adapter: Config['adapter'], config: Config) => (config: Config) => Promise<Response>

// Versions before 1.12 take one argument, and their fetch adapter no `fetch`.
export const acceptsFetch = (): boolean => installedAxios().minor >= 12

/** Sends a request through the adapter that axios itself would choose. */
export function sendByAdapter(config: Config, adapter = config.adapter): Promise<Response> {
  const getAdapter: GetAdapter = axios.getAdapter
  return getAdapter(adapter ?? axios.default.defaults.adapter, config)(config)
}

export interface SendOptions {
  readonly errors: AxiosErrors
  /** Name of the header that carries the token. */
  readonly header: string
  readonly replaceHeader: boolean
  readonly startedAt: number
}

/**
 * Sends a request with its token, or as it is. That is redacted too: its socket may carry the next request, which has a
 * token.
 *
 * @throws what axios throws without a response
 */
export function sendOnce(
  config: Config,
  attachment: Attachment | undefined,
  options: SendOptions,
): Promise<Outcome> {
  redactAgents(config)
  const restore = attachment ? attach(config, attachment, options) : record(config)
  const succeed = (response: Response): Outcome => {
    restore()
    return redactOutcome({ response }, config)
  }
  const fail = (cause: unknown): Outcome => {
    restore()
    const error = options.errors.adopt(cause)
    const { response } = redactOutcome({ error, response: Object(error).response }, config)
    if (response) return { response, error }
    throw error
  }
  try {
    return sendByAdapter(config).then(succeed, fail)
  } catch (error) {
    restore()
    throw error
  }
}

/**
 * Only the adapter sees the token, in a separate headers object. Returns a function that restores the configuration, which is
 * changed because copying it costs more than everything else.
 */
function attach(
  config: Config,
  attachment: Attachment,
  { header, replaceHeader, startedAt }: SendOptions,
): () => void {
  const { followsRedirects, allows } = attachment
  // axios-mock-adapter removes itself.
  const { headers, adapter } = config
  const withToken: Config['headers'] = Object.assign(new axios.AxiosHeaders(), headers)
  for (const name in attachment.headers) {
    // Whichever case the caller's header is in.
    if (replaceHeader || !followsRedirects) withToken.delete(name)
    withToken[name] = attachment.headers[name]!
  }
  config.headers = withToken
  const timeout = remainingTimeout(config, startedAt)
  const revert = change(config, {
    ...(timeout !== undefined && { timeout }),
    ...(acceptsFetch() && inPage() && { env: recordingEnv(config) }),
    ...(followsRedirects ? withSafeRedirects(config, header, allows) : withoutRedirects(config)),
  })
  return () => {
    config.headers = headers
    config.adapter = adapter!
    revert()
  }
}

/** Records where the response comes from: a request without a token may be sent again with one, unless it was redirected. */
function record(config: Config): () => void {
  return change(config, { adapter: config.adapter!, ...(acceptsFetch() && { env: recordingEnv(config) }) })
}

function withoutRedirects({ fetchOptions }: Config): Partial<Config> {
  // Before 1.12, the fetch adapter does not read `maxRedirects`.
  if (!inPage()) return { maxRedirects: 0, fetchOptions: { ...fetchOptions, redirect: 'manual' } }
  // XMLHttpRequest always follows redirects; fetch can fail on them instead.
  return { adapter: 'fetch', fetchOptions: { ...fetchOptions, redirect: 'error' } }
}

/**
 * Removes the token on a redirect to another origin: axios before 1.18 sends it to subdomains, for example. The fetch
 * adapter does not follow redirects.
 */
function withSafeRedirects(config: Config, header: string, allows: Attachment['allows']): Partial<Config> {
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
      const target = new URL(String(options['href']))
      if (target.origin === origin && allows?.(target) !== false) return
      origin = target.origin
      const headers = Object(options['headers']) as Record<string, unknown>
      for (const name in headers) if (name.toLowerCase() === header.toLowerCase()) delete headers[name]
    },
  }
}

/** Applies changes and returns a function that reverts them. */
function change(config: Config, changes: Partial<Config>): () => void {
  const previous: Record<string, unknown> = {}
  for (const name in changes) previous[name] = config[name as keyof Config]
  Object.assign(config, changes)
  return () => Object.assign(config, previous)
}
