import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'

/** A token request that reached the endpoint. Times in milliseconds of this machine's clock. */
export interface TokenRequestRecord {
  /** The fleet member that sent it. */
  readonly member: number
  readonly scope: string
  /** As a fleet member says. */
  readonly sentAt: number
  readonly receivedAt: number
  /** Whether a token went out. */
  minted: boolean
}

export interface TokenEndpoint extends AsyncDisposable {
  readonly tokenUrl: string
  readonly requests: TokenRequestRecord[]
}

/** A token endpoint whose tokens say in the clear when their life ends. */
export async function startTokenEndpoint(options: {
  readonly lifetimeMs: number
  /** Waited for before the answer; false leaves the request without one. @default 50 ms, then a token */
  readonly beforeAnswer?: ((request: TokenRequestRecord) => Promise<boolean | 'invalid_client'>) | undefined
}): Promise<TokenEndpoint> {
  const { lifetimeMs, beforeAnswer = () => setTimeout(50, true) } = options
  const requests: TokenRequestRecord[] = []
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const receivedAt = Date.now()
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += String(chunk)
    const scope = new URLSearchParams(body).get('scope') ?? ''
    const [member, sentAt] = ['x-member', 'x-sent-at'].map((name) => Number(request.headers[name]))
    const record = { member: member!, scope, sentAt: sentAt!, receivedAt, minted: false }
    requests.push(record)
    const verdict = await beforeAnswer(record)
    if (verdict === false) return void request.destroy()
    response.setHeader('content-type', 'application/json')
    if (verdict !== true) return void response.writeHead(401).end(JSON.stringify({ error: verdict }))
    record.minted = true
    const access_token = `token-${requests.length}.${receivedAt + lifetimeMs}`
    const token = { access_token, token_type: 'Bearer', expires_in: String(lifetimeMs / 1000), scope }
    response.end(JSON.stringify(token))
  }
  const server = createServer((request, response) => void answer(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    tokenUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** When the life of an endpoint's token ends. */
export function endOfLife(token: string): number {
  return Number(token.split('.')[1])
}
