import { startServer, readText } from './local-server.ts'

/** A token endpoint on a real socket, with the tokens it issued; responds after `latencyMs`. */
export class Issuer {
  readonly issued: { readonly value: string; readonly expiresAt: number }[] = []
  readonly revoked = new Set<string>()
  requests = 0
  inFlight = 0
  mostInFlight = 0
  lifetimeSeconds = 3_600
  latencyMs = 0
  broken = false
  origin = ''

  async start(): Promise<this> {
    this.origin = await startServer((request, response) => {
      this.requests++
      this.mostInFlight = Math.max(this.mostInFlight, ++this.inFlight)
      void readText(request).then(() =>
        setTimeout(() => {
          this.inFlight--
          response.writeHead(this.broken ? 400 : 200, { 'content-type': 'application/json' })
          response.end(this.broken ? '' : JSON.stringify(this.#issue()))
        }, this.latencyMs),
      )
    })
    return this
  }

  #issue() {
    const value = `token-${this.issued.length + 1}`
    this.issued.push({ value, expiresAt: performance.now() + this.lifetimeSeconds * 1000 })
    return { access_token: value, token_type: 'Bearer', expires_in: String(this.lifetimeSeconds) }
  }

  /** Whether an `Authorization` header contains an active token. */
  accepts(header: string | undefined): boolean {
    const value = header?.replace('Bearer ', '') ?? ''
    const token = this.issued.find((token) => token.value === value)
    return token !== undefined && !this.revoked.has(value) && performance.now() < token.expiresAt
  }
}
