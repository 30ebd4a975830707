import { describe, expect, it } from 'vitest'
import { clientCredentials, createTokenFetch } from '@tokenwell/core'
import { Issuer, startServer } from '../support/issuer.ts'

async function start() {
  const issuer = await new Issuer().start()
  issuer.latencyMs = 50
  const sent: number[] = []
  const api = await startServer((request, response) => {
    // Responses arrive in any order.
    setTimeout(() => {
      response.statusCode = issuer.accepts(request.headers.authorization) ? 200 : 401
      sent.push(response.statusCode)
      response.end()
    }, Math.random() * 100)
  })
  const options = { authUrl: issuer.origin, clientId: 'client', clientSecret: 'secret' }
  const tokens = clientCredentials(options)
  return { sent, api, issuer, tokens, tokenFetch: createTokenFetch(tokens, { allowedOrigins: [api] }) }
}

describe('when a token is revoked', () => {
  it('200 concurrent requests succeed with one token request', async () => {
    const { sent, api, issuer, tokens, tokenFetch } = await start()
    const { value } = await tokens.getToken()
    const calls = Array.from({ length: 200 }, () => tokenFetch(api))
    issuer.revoked.add(value)
    const statuses = (await Promise.all(calls)).map(({ status }) => status)
    expect(new Set(statuses)).toEqual(new Set([200]))
    expect(sent.filter((status) => status === 401).length).toBeGreaterThan(0)
    expect(issuer.requests).toBe(2)
    expect(issuer.mostInFlight).toBe(1)
  })

  it('continuous requests succeed with one token request for each of ten revocations', async () => {
    const { api, issuer, tokens, tokenFetch } = await start()
    for (let revocation = 1; revocation <= 10; revocation++) {
      const { value } = await tokens.getToken()
      const calls = Array.from({ length: 20 }, () => tokenFetch(api))
      issuer.revoked.add(value)
      const late = Array.from({ length: 20 }, () => tokenFetch(api))
      const statuses = (await Promise.all([...calls, ...late])).map(({ status }) => status)
      expect(new Set(statuses)).toEqual(new Set([200]))
      expect(issuer.requests).toBe(1 + revocation)
    }
  })
})
