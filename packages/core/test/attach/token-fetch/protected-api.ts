import type { IncomingMessage, RequestListener } from 'node:http'
import { clientCredentials, createTokenFetch, type TokenEvent } from '@tokenwell/core'
import { Issuer, readText, startServer } from '../../support/issuer.ts'

export interface Seen {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** An API that records each request and responds as `listener` says; by default 200 to active tokens, 401 to others. */
export async function start(
  options: Partial<Parameters<typeof createTokenFetch>[1]> = {},
  listener?: RequestListener,
) {
  const issuer = await new Issuer().start()
  const seen: Seen[] = []
  const api = await startServer((request, response) => {
    void readText(request).then((body) => {
      seen.push({ method: request.method, url: request.url, headers: request.headers, body })
      if (listener) return listener(request, response)
      response.statusCode = issuer.accepts(request.headers.authorization) ? 200 : 401
      response.end(`status ${response.statusCode}`)
    })
  })
  const events: TokenEvent[] = []
  const tokens = clientCredentials({
    authUrl: issuer.origin,
    clientId: 'client',
    clientSecret: 'secret',
    onEvent: (event) => events.push(event),
  })
  const tokenFetch = createTokenFetch(tokens, { allowedOrigins: [api], ...options })
  return { api, events, issuer, seen, tokenFetch, tokens }
}

/** Revokes the cached token. */
export async function revoke({ issuer, tokens }: Awaited<ReturnType<typeof start>>): Promise<void> {
  issuer.revoked.add((await tokens.getToken()).value)
}
