const latencyMs = 50

/** A token endpoint in simulated time that serves so many requests a second, and tells all others when it will serve them. */
export class LimitedEndpoint {
  /** Requests by second, served and rejected ones. */
  readonly requests: number[] = []
  longestRetryAfterMs = 0
  readonly #perSecond: number
  readonly #now: () => number
  /** When each rejected client will be served. */
  readonly #promised = new Map<string, number>()
  #nextFree = 0
  #allowance: number
  #countedAt = 0

  constructor(perSecond: number, now: () => number) {
    this.#perSecond = this.#allowance = perSecond
    this.#now = now
  }

  async fetch(init: RequestInit): Promise<Response> {
    // oxlint-disable-next-line typescript/no-base-to-string -- all peers send a form
    const clientId = new URLSearchParams(String(init.body)).get('client_id') ?? ''
    await new Promise((resolve) => setTimeout(resolve, latencyMs / 2))
    const retryAfter = this.#serve(clientId)
    await new Promise((resolve) => setTimeout(resolve, latencyMs / 2))
    if (retryAfter === undefined)
      return respond(200, { access_token: 'token', token_type: 'Bearer', expires_in: 3600 })
    return respond(429, { error: 'slow_down' }, { 'retry-after': String(retryAfter) })
  }

  /** Seconds to wait; undefined if the request is served. */
  #serve(clientId: string): number | undefined {
    const now = this.#now()
    const second = Math.floor(now / 1000)
    this.requests[second] = (this.requests[second] ?? 0) + 1
    const refilled = this.#allowance + ((now - this.#countedAt) / 1000) * this.#perSecond
    this.#allowance = Math.min(Math.max(1, this.#perSecond), refilled)
    this.#countedAt = now
    if (this.#allowance >= 1) {
      this.#allowance--
      this.#promised.delete(clientId)
      return undefined
    }
    let at = this.#promised.get(clientId) ?? 0
    if (at <= now) {
      at = this.#nextFree = Math.max(now, this.#nextFree) + 1000 / this.#perSecond
      this.#promised.set(clientId, at)
    }
    this.longestRetryAfterMs = Math.max(this.longestRetryAfterMs, at - now)
    return Math.ceil((at - now) / 1000)
  }
}

/** Less than a `Response`, which would take most of the simulation's time. */
function respond(status: number, body: object, headers: Record<string, string> = {}): Response {
  const text = JSON.stringify(body)
  const response = { status, ok: status === 200, headers: new Headers(headers) }
  return { ...response, text: async () => text, json: async () => body } as Response
}
