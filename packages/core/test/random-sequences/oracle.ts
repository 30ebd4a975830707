import type { TokenEvent } from '@tokenwell/core'

/** A token of the token service. */
interface Issued {
  readonly tenant: string
  readonly issuedAt: number
  readonly lifetimeMs: number
  isRevoked: boolean
}

/** A request as it arrived at an API. */
interface Arrival {
  readonly method: string
  readonly origin: string
  readonly path: string
  readonly token: string | undefined
}

/** One request of the application, with everything that was sent for it. */
export interface ObservedRequest {
  readonly tenant: string
  readonly isStream: boolean
  readonly arrivals: Arrival[]
  /** How often an API has done what it asks for. */
  handled: number
  /** Whether its API does not notice an abort. */
  isDeaf: boolean
  /** Whether it was responded to by another origin, after a redirect that `fetch` followed by itself. */
  hasForeignResponse: boolean
}

/** What the events of one provider have told. */
export interface ObservedProvider {
  /** Calls that have begun and not settled. */
  calls: number
  /** The token requests in flight that began for callers. */
  readonly inFlight: Set<number>
  /** No token request before this time, apart from one that is forced. */
  pausedUntil: number
  wasReset: boolean
  mayClose: boolean
}

const backgroundReasons: readonly string[] = ['refresh_ahead', 'rejected']
/** A token is attached at the last moment of its margin at worst; a service takes no time to receive it. */
const roundingMs = 1
/** After the first rejection of credentials. */
const shortestCooldownMs = 1_000

/** Knows what each token is for and what was sent, and collects whatever must not happen. */
export class Oracle {
  readonly problems: string[] = []
  readonly issued = new Map<string, Issued>()
  readonly requests: ObservedRequest[] = []
  readonly providers: ObservedProvider[] = []
  readonly allowedOrigins: readonly string[]
  /** Where the tokens of a source for one resource may go. */
  readonly onlyOrigin: string | undefined

  constructor(allowedOrigins: readonly string[], onlyOrigin: string | undefined) {
    this.allowedOrigins = allowedOrigins
    this.onlyOrigin = onlyOrigin
  }

  report(problem: string): void {
    this.problems.push(`${Math.round(performance.now())} ms: ${problem}`)
  }

  issue(tenant: string, lifetimeMs: number): string {
    const token = `${tenant}.${this.issued.size + 1}`
    this.issued.set(token, { tenant, lifetimeMs, issuedAt: performance.now(), isRevoked: false })
    return token
  }

  isValid(token: string | undefined): boolean {
    return token !== undefined && this.issued.get(token)?.isRevoked === false
  }

  revokeAll(): void {
    for (const token of this.issued.values()) token.isRevoked = true
  }

  /** A token must be one of its tenant that has not expired. */
  checkToken(token: string, tenant: string, what: string): void {
    const issued = this.issued.get(token)
    if (issued === undefined) return this.report(`${what}: unknown token ${token}`)
    if (issued.tenant !== tenant) this.report(`${what}: token of ${issued.tenant} for ${tenant}`)
    const ageMs = performance.now() - issued.issuedAt
    if (ageMs > issued.lifetimeMs + roundingMs) {
      this.report(`${what}: expired token ${token}, ${Math.round(ageMs)} ms of ${issued.lifetimeMs}`)
    }
  }

  /** Called for each request that arrives at an API, with the number of the application's request. */
  arrive(number: number, arrival: Arrival, isRedirected: boolean): ObservedRequest {
    const request = this.requests[number]!
    const { method, origin, path, token } = arrival
    const what = `request ${number} at ${origin}${path}`
    if (request.hasForeignResponse) this.report(`${what}: sent again after the response of another origin`)
    if (token === undefined) {
      const isFirstOfSource = this.onlyOrigin !== undefined && request.arrivals.length === 0
      const needsNone = !this.allowedOrigins.includes(origin) || isRedirected || this.onlyOrigin !== undefined
      if (!needsNone && !isFirstOfSource) this.report(`${what}: sent without its token`)
    } else {
      if (isRedirected) this.report(`${what}: token after a redirect from another origin`)
      else if (!this.allowedOrigins.includes(origin)) this.report(`${what}: token to another origin`)
      else if (this.onlyOrigin !== undefined && origin !== this.onlyOrigin) {
        this.report(`${what}: token for another resource`)
      }
      if (request.arrivals.some((earlier) => earlier.path === path && earlier.token === token)) {
        this.report(`${what}: the same token sent again`)
      }
      // A token that expires while a request is redirected stays on its way, as with every client: its API rejects it, and
      // the request is sent once more with a new one.
      const isHop = request.arrivals.some((earlier) => earlier.token === token)
      if (!isHop) this.checkToken(token, request.tenant, what)
    }
    const isSecond = request.arrivals.some((earlier) => earlier.path === path && earlier.method === method)
    if (request.isStream && method === 'POST' && isSecond) this.report(`${what}: a stream sent twice`)
    request.arrivals.push(arrival)
    return request
  }

  /** Called when an API does what a request asks for. */
  handle(number: number): void {
    if (++this.requests[number]!.handled > 1) this.report(`request ${number}: handled twice`)
  }

  /** Listens to a provider. */
  observe(): { readonly provider: ObservedProvider; readonly onEvent: (event: TokenEvent) => void } {
    const provider: ObservedProvider = {
      calls: 0,
      inFlight: new Set(),
      pausedUntil: 0,
      wasReset: false,
      mayClose: false,
    }
    this.providers.push(provider)
    return { provider, onEvent: (event) => this.#read(provider, event) }
  }

  #read(provider: ObservedProvider, event: TokenEvent): void {
    const now = performance.now()
    if (event.type === 'token_rejected' && event.origin !== undefined) {
      if (!this.allowedOrigins.includes(event.origin)) this.report(`${event.origin} rejected a token`)
    }
    if (event.type === 'token_requested') {
      if (event.attempt === 1 && event.reason !== 'forced' && now < provider.pausedUntil - roundingMs) {
        this.report(
          `a token request ${Math.round(provider.pausedUntil - now)} ms before the end of a cooldown`,
        )
      }
      if (!backgroundReasons.includes(event.reason)) provider.inFlight.add(event.requestId)
    } else if (event.type === 'token_received') {
      provider.inFlight.delete(event.requestId)
      provider.pausedUntil = 0
    } else if (event.type === 'token_failed') {
      provider.inFlight.delete(event.requestId)
      if (event.kind === 'aborted' && event.reason === 'refresh_ahead' && !provider.mayClose) {
        this.report('a background refresh was cancelled')
      }
      const hasCooldown = event.kind === 'credentials' && event.retryInMs === undefined
      // A step-up has a cooldown of its own, and a reset ends each.
      if (hasCooldown && this.onlyOrigin === undefined && !provider.wasReset) {
        provider.pausedUntil = now + shortestCooldownMs
      }
    }
  }

  /** Once promises have settled: a token request whose last caller has left is cancelled. */
  checkAbandoned(): void {
    for (const { calls, inFlight } of this.providers) {
      if (calls > 0 || inFlight.size === 0) continue
      this.report('a token request continues, and nobody waits for it')
      inFlight.clear()
    }
  }
}
