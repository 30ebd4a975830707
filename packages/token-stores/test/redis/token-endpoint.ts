import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'

/** A token request that reached the endpoint. Times in milliseconds of this machine's clock. */
export interface TokenRequestRecord {
  /** The fleet member that sent it. */
  readonly member: number
  readonly scope: string
  /** As reported by the fleet member. */
  readonly sentAt: number
  readonly receivedAt: number
  /** Whether a token was issued. */
  issued: boolean
}

/** A token, no response, an error of RFC 6749, or a status. */
export type Outcome =
  | boolean
  | 'invalid_client'
  | { readonly status: number; readonly headers?: Record<string, string> | undefined }

export interface TokenEndpoint extends AsyncDisposable {
  readonly tokenEndpoint: string
  readonly requests: TokenRequestRecord[]
}

/** A token endpoint whose tokens contain their expiry. */
export async function startTokenEndpoint(options: {
  readonly lifetimeMs: number
  /** Awaited before the response; false closes the connection without one. @default 50 ms, then a token */
  readonly beforeResponse?: ((request: TokenRequestRecord) => Promise<Outcome>) | undefined
}): Promise<TokenEndpoint> {
  const { lifetimeMs, beforeResponse = () => setTimeout(50, true) } = options
  const requests: TokenRequestRecord[] = []
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    const receivedAt = Date.now()
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += String(chunk)
    const scope = new URLSearchParams(body).get('scope') ?? ''
    const [member, sentAt] = ['x-member', 'x-sent-at'].map((name) => Number(request.headers[name]))
    const record = { member: member!, scope, sentAt: sentAt!, receivedAt, issued: false }
    requests.push(record)
    const outcome = await beforeResponse(record)
    if (outcome === false) return void request.destroy()
    if (typeof outcome === 'object') return void response.writeHead(outcome.status, outcome.headers).end()
    response.setHeader('content-type', 'application/json')
    if (outcome !== true) return void response.writeHead(401).end(JSON.stringify({ error: outcome }))
    record.issued = true
    const access_token = `token-${requests.length}.${receivedAt + lifetimeMs}`
    const token = { access_token, token_type: 'Bearer', expires_in: String(lifetimeMs / 1000), scope }
    response.end(JSON.stringify(token))
  }
  const server = createServer((request, response) => void respond(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    tokenEndpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** When a token of the endpoint expires. */
export function expiryOf(token: string): number {
  return Number(token.split('.')[1])
}

/**
 * A token endpoint that treats each scope as its name says: `takes 3000 ms`, `responds 503`, or `responds 429 for 20 s`
 * from the first request on.
 */
export function startSlowEndpoint(): Promise<TokenEndpoint> {
  const throttledUntil = new Map<string, number>()
  async function respond({ scope }: TokenRequestRecord): Promise<Outcome> {
    const [, ms] = /takes (\d+) ms/.exec(scope) ?? []
    if (ms !== undefined) return setTimeout(Number(ms), true)
    if (scope.includes('responds 503')) return { status: 503 }
    const [, seconds] = /responds 429 for (\d+) s/.exec(scope) ?? []
    if (seconds !== undefined) {
      const until = throttledUntil.get(scope) ?? Date.now() + Number(seconds) * 1_000
      throttledUntil.set(scope, until)
      const remaining = Math.ceil((until - Date.now()) / 1_000)
      if (remaining > 0) return { status: 429, headers: { 'retry-after': String(remaining) } }
    }
    return setTimeout(50, true)
  }
  return startTokenEndpoint({ lifetimeMs: 3_600_000, beforeResponse: respond })
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}
