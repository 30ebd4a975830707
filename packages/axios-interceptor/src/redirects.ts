import { readRedirect } from '@tokenwell/core/adapter'
import { AxiosHeaders, type AxiosResponse, type InternalAxiosRequestConfig as Config } from 'axios'

/** Pages do not show where a redirect leads, but their `fetch` and XMLHttpRequest drop the token on the way. */
export const inPage = (): boolean => typeof XMLHttpRequest !== 'undefined'

/**
 * Whether the redirects of axios' fetch adapter are followed here: some implementations of `fetch` send the token to another
 * origin.
 */
function followsHere({ fetchOptions, maxRedirects }: Config): boolean {
  const { redirect = 'follow' } = Object(fetchOptions) as RequestInit
  return redirect === 'follow' && maxRedirects !== 0 && !inPage()
}

/** The request that a redirect leads to. */
export interface RedirectedRequest {
  readonly config: Config
  readonly url: string
  /** Whether it is sent to the same origin, with the token. */
  readonly keepsToken: boolean
}

/**
 * The request that a response redirects to; undefined for other responses, and those of other adapters, which follow
 * redirects themselves.
 *
 * @param redirects how many led to this response
 * @throws {TypeError} as `fetch` does
 */
export function redirectedRequest(
  config: Config,
  { request, status, headers }: AxiosResponse,
  redirects: number,
): RedirectedRequest | undefined {
  if (request?.redirect !== 'manual' || !followsHere(config)) return undefined
  // fetch reads streams once, and sends other objects as text.
  const body = Symbol.asyncIterator in Object(config.data) ? 'stream' : 'complete'
  const sent = { url: String(request.url), method: config.method!, body, redirects } as const
  const redirect = readRedirect(sent, { status, headers: headers as Record<string, string> })
  if (!redirect) return undefined
  const { url, method, keepsBody, droppedHeaders } = redirect
  const next: Config = { ...config, url: url.href, method, headers: new AxiosHeaders(config.headers) }
  for (const name of droppedHeaders) next.headers.delete(name)
  // The URL is complete.
  delete next.baseURL
  delete next.params
  if (!keepsBody) delete next.data
  return { config: next, url: url.href, keepsToken: url.origin === new URL(sent.url).origin }
}

type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>
interface Outcome {
  readonly url: string
  readonly redirected: boolean
}

/** Of a response of axios' fetch adapter remains only the request, which says nothing about redirects that a page followed. */
const outcomes = new WeakMap<Request, Outcome>()
const recorders = new WeakMap<Fetch, Fetch>()
const globalFetch: Fetch = (input, init) => globalThis.fetch(input, init)

/** The `env` of a configuration, with a `fetch` that records where each response came from. */
export function recordingEnv({ env }: Config): NonNullable<Config['env']> {
  const { fetch = globalFetch } = (env ?? {}) as { fetch?: Fetch }
  // axios keeps an adapter for each `fetch`, so this has to be the same for all requests.
  const recorder = recorders.get(fetch) ?? createRecorder(fetch)
  return { ...env, fetch: recorder }
}

function createRecorder(fetch: Fetch): Fetch {
  const recorder: Fetch = async (input, init) => {
    const response = await fetch(input, init)
    const { url, redirected } = response
    if (typeof input === 'object' && 'headers' in input) outcomes.set(input, { url, redirected })
    return response
  }
  recorders.set(fetch, recorder)
  recorders.set(recorder, recorder)
  return recorder
}

/** The URL that a response came from, after redirects; undefined if the adapter does not report it. */
export function finalUrl({ request }: AxiosResponse): string | undefined {
  const url: string | undefined =
    request?.responseURL ??
    request?.res?.responseUrl ??
    outcomes.get(request)?.url ??
    (request?.redirect === 'manual' ? request.url : undefined)
  // axios-mock-adapter sets the path of the request.
  return URL.canParse(url ?? '') ? url : undefined
}

/** Whether a response came, or may have come, from another request than the one to `url`. */
export function wasRedirected({ request }: AxiosResponse, url: string): boolean {
  if (request?._redirectable) return request._redirectable._redirectCount > 0
  const outcome = outcomes.get(request)
  if (outcome) return outcome.redirected
  // A `Request` of axios before 1.12, in a page.
  if (request?.redirect) return request.redirect === 'follow'
  const base = (globalThis as { document?: { baseURI: string } }).document?.baseURI
  // XMLHttpRequest reports the URL alone, without its fragment.
  const { responseURL = '' } = Object(request) as { responseURL?: string }
  if (!URL.canParse(responseURL) || !URL.canParse(url, base)) return false
  const [from, to] = [new URL(responseURL), new URL(url, base)]
  return from.origin !== to.origin || from.pathname !== to.pathname
}
