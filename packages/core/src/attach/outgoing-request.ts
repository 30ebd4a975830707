import { waitFor } from '../runtime/timers.ts'
import { absoluteUrl } from './allowed-origins.ts'
import { copyBody, isRepeatableBody, keepBody, type KeptBody } from './replayable-body.ts'
import { copyHeaders, withHeaders, type RequestHeaders } from './request-headers.ts'
import type { Attachment } from './token-attacher.ts'

/** How long to wait for a body that is still arriving. */
const maxWaitMs = 1_000

/** Options of one request: those of `fetch`, and `token: false` to send it without a token. */
export interface TokenFetchInit extends Omit<RequestInit, 'duplex'> {
  readonly token?: false | undefined
  /** Required by Node for a body that is a stream. */
  readonly duplex?: 'half' | undefined
}

/**
 * One request, read as `fetch` would read it at the moment of the call: later changes by the caller have no effect,
 * and the request goes to the URL that was checked.
 */
export class OutgoingRequest {
  readonly url: string
  readonly method: string
  readonly signal: AbortSignal | null | undefined
  /** Whether the caller opted out of a token. */
  readonly optedOut: boolean
  readonly headers: RequestHeaders | undefined
  readonly #input: string | Request
  readonly #init: RequestInit
  readonly #repeatable: boolean
  /** The body of a `Request`. */
  readonly #keptBody: KeptBody | undefined
  #wasSent = false

  constructor(
    input: string | URL | Request,
    given: TokenFetchInit | null | undefined,
    maxReplayBytes: number,
  ) {
    const request = isRequest(input) ? input : undefined
    const init = readInit(given)
    this.url = request?.url ?? String(absoluteUrl(input as string | URL))
    this.method = init.method ?? request?.method ?? 'GET'
    this.signal = init.signal === undefined ? request?.signal : init.signal
    this.optedOut = init.token === false
    // Not by destructuring: the copy would take a quarter of the constructor's time.
    if ('token' in init) delete init.token
    this.#input = request ?? this.url
    this.headers = copyHeaders(init.headers ?? request?.headers)
    const owner = init.body === undefined ? request : isRequest(given) ? given : undefined
    const { body } = owner ?? {}
    // The body of a node-fetch Request is a stream of Node, which is sent once.
    if (owner && typeof body?.getReader === 'function' && !owner.bodyUsed && maxReplayBytes > 0) {
      this.#keptBody = keepBody(owner, maxReplayBytes)
      if (owner === given) {
        init.body = owner.body!
        init.duplex = 'half'
      }
    }
    if (init.body && !owner) init.body = copyBody(init.body)
    // Some browsers do not expose the body of a Request.
    this.#repeatable = owner
      ? body === null || ['GET', 'HEAD'].includes(this.method.toUpperCase())
      : isRepeatableBody(init.body)
    this.#init = init
  }

  /** Whether it can be sent again. For the body of a `Request`, this is known once it has been sent. */
  get repeatable(): boolean {
    if (this.#keptBody === undefined) return this.#repeatable
    return !this.#wasSent || this.#keptBody.repeated() !== undefined
  }

  /** Waits until it is known whether the body was kept: a response may arrive before all of the body was read here. */
  async bodySettled(): Promise<void> {
    if (this.#keptBody) await waitFor(this.#keptBody.settled, maxWaitMs, undefined, () => undefined)
  }

  /** Sends it with a token, or as it is. */
  send(
    fetch: (input: string | Request, init: RequestInit) => Promise<Response>,
    attachment: Attachment | undefined,
    followsRedirects: boolean,
  ): Promise<Response> {
    const init: RequestInit = Object.assign({}, this.#init)
    const isRepeat = this.#wasSent
    this.#wasSent = true
    if (this.#keptBody && isRepeat) init.body = this.#keptBody.repeated() ?? null
    if (attachment) {
      // The first attempt uses the existing copy of the headers, because another copy takes a microsecond.
      const headers = isRepeat && this.headers instanceof Headers ? new Headers(this.headers) : this.headers
      init.headers = withHeaders(attachment.headers, headers)
      if (!(followsRedirects && !attachment.isBound) && this.#redirect !== 'error') init.redirect = 'manual'
    } else if (this.headers) init.headers = this.headers
    return fetch(this.#input, init)
  }

  get #redirect(): RequestInit['redirect'] {
    return this.#init.redirect ?? (isRequest(this.#input) ? this.#input.redirect : undefined)
  }
}

export function isRequest(value: unknown): value is Request {
  return typeof value === 'object' && value !== null && 'url' in value && 'clone' in value
}

/** A copy, read as `fetch` reads it: inherited members and getters included. */
function readInit(given: TokenFetchInit | null | undefined): {
  -readonly [Name in keyof TokenFetchInit]: TokenFetchInit[Name]
} {
  if (given === null || given === undefined) return {}
  // Most are plain objects, which are copied in a fraction of the time.
  if (Object.getPrototypeOf(given) === Object.prototype) return { ...given }
  const init: Record<string, unknown> = {}
  for (const name in given) init[name] = given[name as keyof TokenFetchInit]
  return init
}
