import { waitFor } from '../runtime/wait.ts'
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
  readonly headers: RequestHeaders | undefined
  /** What the caller, or `fetch`, does with redirects. */
  readonly redirect: RequestInit['redirect']
  /** Whether the caller opted out of a token. */
  readonly optedOut: boolean
  readonly init: RequestInit
  readonly #input: string | Request
  readonly #repeatable: boolean
  /** The body of a `Request`. */
  readonly #keptBody: KeptBody | undefined
  #wasSent = false

  /** @param keepsBody whether the body of a `Request` is kept, up to 1 MiB */
  constructor(input: string | URL | Request, given: TokenFetchInit | null | undefined, keepsBody = true) {
    const request = isRequest(input) ? input : undefined
    const init = readInit(given)
    this.url = request?.url ?? String(absoluteUrl(input as string | URL))
    this.method = init.method ?? request?.method ?? 'GET'
    this.signal = init.signal === undefined ? request?.signal : init.signal
    this.redirect = init.redirect ?? request?.redirect
    this.optedOut = init.token === false
    if ('token' in init) delete init.token
    this.#input = request ?? this.url
    this.headers = copyHeaders(init.headers ?? request?.headers)
    const owner = init.body === undefined ? request : isRequest(given) ? given : undefined
    const { body } = owner ?? {}
    // The body of a node-fetch Request is a stream of Node, which is sent once.
    if (owner && typeof body?.getReader === 'function' && !owner.bodyUsed && keepsBody) {
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
      : isRepeatableBody(init.body)
    this.init = init
  }

  /** Whether it can be sent again. For the body of a `Request`, this is known once it has been sent. */
  get repeatable(): boolean {
    if (this.#keptBody === undefined) return this.#repeatable
    return !this.#wasSent || this.#keptBody.repeated() !== undefined
  }

  get hasBody(): boolean {
    return (this.init.body ?? (isRequest(this.#input) ? this.#input.body : null)) !== null
  }

  /** The body for another attempt, once {@link bodySettled}. */
  get repeatedBody(): RequestInit['body'] {
    return this.#keptBody ? (this.#keptBody.repeated() ?? null) : this.init.body
  }

  /** Waits until it is known whether the body was kept: a response may arrive before all of the body was read here. */
  async bodySettled(): Promise<void> {
    if (this.#keptBody) await waitFor(this.#keptBody.settled, maxWaitMs, undefined, () => undefined)
  }

  /** Sends it with a token, or as it is. */
  send(
    fetch: (input: string | Request, init: RequestInit) => Promise<Response>,
    attachment: Attachment | undefined,
    redirect: RequestInit['redirect'],
  ): Promise<Response> {
    const init: RequestInit = Object.assign({}, this.init)
    if (this.#keptBody && this.#wasSent) init.body = this.repeatedBody!
    this.#wasSent = true
    if (attachment) init.headers = withHeaders(attachment.headers, this.headers)
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
