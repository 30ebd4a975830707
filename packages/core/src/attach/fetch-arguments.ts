import { waitFor } from '../runtime/wait.ts'
import type { HeadersInput } from '../sources/backend-tokens.ts'
import type { AttachRequest } from './token-attacher.ts'
import {
  copyBody,
  isRepeatableBody,
  keepBody,
  maxRedirectedBytes,
  maxRepeatedBytes,
  type KeptBody,
} from './body.ts'
import { absoluteUrl } from './origins.ts'

/** How long to wait for a body that is still arriving. */
const maxWaitMs = 1_000

/** Options of one request: those of `fetch`, and `token: false` to send it without a token. */
export interface TokenFetchInit extends Omit<RequestInit, 'duplex'> {
  readonly token?: false | undefined
  /** Required by Node for a body that is a stream. */
  readonly duplex?: 'half' | undefined
}

/** How a request is read. */
export interface OutgoingRequestOptions {
  /** Name of the header that carries the token. */
  readonly header: string
  /** Whether the body of a `Request` is kept, up to 16 MiB. */
  readonly keepsBody: boolean
  /** Whether a request with a body may be sent again with a new token. */
  readonly repeatsBody: boolean
}

/** A copy of a request's headers. */
type RequestHeaders = Headers | Readonly<Record<string, string>>

/**
 * One request, read as `fetch` would read it at the moment of the call: later changes by the caller have no effect,
 * and the request goes to the URL that was checked.
 */
export class OutgoingRequest implements AttachRequest {
  readonly url: string
  readonly method: string
  readonly signal: AbortSignal | null | undefined
  readonly headers: RequestHeaders | undefined
  readonly hasHeader: boolean
  /** What the caller, or `fetch`, does with redirects. */
  readonly redirect: RequestInit['redirect']
  /** Whether the caller opted out of a token. */
  readonly optedOut: boolean
  readonly init: RequestInit
  readonly options: OutgoingRequestOptions
  /** How many redirects led to it. */
  readonly redirects: number
  readonly #input: string | Request
  readonly #repeatable: boolean
  /** The body of a `Request`. */
  readonly #keptBody: KeptBody | undefined
  #wasSent = false

  constructor(
    input: string | URL | Request,
    given: TokenFetchInit | null | undefined,
    options: OutgoingRequestOptions,
    redirects = 0,
  ) {
    const request = isRequest(input) ? input : undefined
    const init = readInit(given)
    this.url = request?.url ?? String(absoluteUrl(input as string | URL))
    this.method = init.method ?? request?.method ?? 'GET'
    this.signal = init.signal === undefined ? request?.signal : init.signal
    this.redirect = init.redirect ?? request?.redirect
    this.optedOut = init.token === false
    if ('token' in init) delete init.token
    this.options = options
    this.redirects = redirects
    this.#input = request ?? this.url
    this.headers = copyHeaders(init.headers ?? request?.headers)
    this.hasHeader = hasHeader(this.headers, options.header)
    // For `fetch`, null is no body of its own: that of the Request is sent.
    const hasOwnBody = init.body !== undefined && init.body !== null
    const owner = !hasOwnBody ? request : isRequest(given) ? given : undefined
    const { body } = owner ?? {}
    // The body of a node-fetch Request is a stream of Node, which is sent once.
    if (owner && typeof body?.getReader === 'function' && !owner.bodyUsed && options.keepsBody) {
      this.#keptBody = keepBody(owner)
      if (owner === given) {
        init.body = owner.body!
        init.duplex = 'half'
      }
    }
    if (init.body && !owner) init.body = copyBody(init.body)
    // Some browsers do not expose the body of a Request.
    this.#repeatable = owner
      ? body === null || ['GET', 'HEAD'].includes(this.method.toUpperCase())
      : init.body === undefined || isRepeatableBody(init.body)
    this.init = init
  }

  /** Whether it can be sent again. For the body of a `Request`, this is known once it has been sent. */
  get repeatable(): boolean {
    if (!this.options.repeatsBody && this.#hasBody) return false
    if (this.#keptBody === undefined) return this.#repeatable
    return !this.#wasSent || this.#keptBody.repeated(maxRepeatedBytes) !== undefined
  }

  /** Whether the body is a stream that is still to be kept. */
  get isUncertain(): boolean {
    return this.#keptBody !== undefined
  }

  get #hasBody(): boolean {
    return (this.init.body ?? (isRequest(this.#input) ? this.#input.body : null)) !== null
  }

  /** What a redirect finds of its body: `stream` is sent once, `too large` is a body of a `Request` that was not kept. */
  get redirectedBody(): 'complete' | 'stream' | 'too large' {
    if (this.#keptBody === undefined) return this.#repeatable ? 'complete' : 'stream'
    return this.#keptBody.repeated(maxRedirectedBytes) === undefined ? 'too large' : 'complete'
  }

  /** The body for another attempt, once {@link bodySettled}. */
  get repeatedBody(): RequestInit['body'] {
    return this.#keptBody ? (this.#keptBody.repeated(maxRedirectedBytes) ?? null) : this.init.body
  }

  /** Waits until it is known whether the body was kept: a response may arrive before all of the body was read here. */
  async bodySettled(): Promise<void> {
    if (this.#keptBody) await waitFor(this.#keptBody.settled, maxWaitMs, undefined, () => undefined)
  }

  /** Sends it with additional headers, or as it is. */
  send(
    fetch: (input: string | Request, init: RequestInit) => Promise<Response>,
    headers: Readonly<Record<string, string>> | undefined,
    redirect: RequestInit['redirect'],
  ): Promise<Response> {
    const init: RequestInit = Object.assign({}, this.init)
    if (this.#keptBody && this.#wasSent) init.body = this.repeatedBody!
    this.#wasSent = true
    if (headers) init.headers = withHeaders(headers, this.headers)
    else if (this.headers) init.headers = this.headers
    if (redirect) init.redirect = redirect
    return fetch(this.#input, init)
  }
}

function isRequest(value: unknown): value is Request {
  return typeof value === 'object' && value !== null && 'url' in value && 'clone' in value
}

/** A copy, read as `fetch` reads it: inherited members, getters, and members that are not enumerable. */
function readInit(given: TokenFetchInit | null | undefined): {
  -readonly [Name in keyof TokenFetchInit]: TokenFetchInit[Name]
} {
  const init: Record<string, unknown> = {}
  for (
    let level: unknown = given;
    level && level !== Object.prototype;
    level = Object.getPrototypeOf(level)
  ) {
    for (const name of Object.getOwnPropertyNames(level)) {
      if (name !== 'constructor' && name !== '__proto__' && !(name in init))
        init[name] = given![name as keyof TokenFetchInit]
    }
  }
  return init
}

function copyHeaders(headers: HeadersInput | undefined): RequestHeaders | undefined {
  if (headers === undefined || headers === null) return undefined
  return isRecord(headers) ? { ...headers } : new Headers(headers)
}

function isRecord(headers: NonNullable<HeadersInput>): headers is Record<string, string> {
  return !(Symbol.iterator in headers)
}

/** A copy in which headers of the same name are replaced. */
function withHeaders(
  added: Readonly<Record<string, string>>,
  headers: RequestHeaders | undefined,
): Headers | Record<string, string> {
  if (headers === undefined) return { ...added }
  if (headers instanceof Headers) {
    const copy = new Headers(headers)
    for (const name in added) copy.set(name, added[name]!)
    return copy
  }
  // By Object.assign: in Node 20, adding a member to the result of a spread takes eight times as long.
  const copy: Record<string, string> = Object.assign({}, headers)
  for (const name in added) {
    for (const key in headers) if (isSameName(key, name)) delete copy[key]
    copy[name] = added[name]!
  }
  return copy
}

function hasHeader(headers: RequestHeaders | undefined, name: string): boolean {
  if (headers instanceof Headers) return headers.has(name)
  for (const key in headers) if (isSameName(key, name)) return true
  return false
}

function isSameName(one: string, other: string): boolean {
  // The length first, because changing the case takes a quarter of the time of a whole call.
  return one.length === other.length && one.toLowerCase() === other.toLowerCase()
}
