import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

/** A real HTTP server on a free port of this machine, until the test ends. Returns its origin. */
export async function startServer(listener: RequestListener, host = '127.0.0.1'): Promise<string> {
  const server = createServer(listener)
  const origin = await listen(server, host)
  onTestFinished(() => stop(server))
  return origin
}

export async function listen(server: Server, host = '127.0.0.1'): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  return `http://${host}:${(server.address() as AddressInfo).port}`
}

export async function stop(server: Server): Promise<void> {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
}

export async function readText(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk as string
  return text
}

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
