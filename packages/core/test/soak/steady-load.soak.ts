import { expect, it } from 'vitest'
import { clientCredentials, createTokenFetch } from '@tokenwell/core'
import { createSoakTable } from '@tokenwell/internal-testing/soak-table'
import { Issuer, startServer } from '../support/issuer.ts'

interface SteadyLoad {
  calls: number
  /** Calls after the first token that found no cached token. */
  waited: number
  rejected: number
  failed: number
  tokenRequests: number
  mostTokenRequestsAtOnce: number
  tokens: number
}

/** 200 API requests a second with tokens of three seconds, from an endpoint that takes 100 ms; real sockets, real time. */
async function runSteadyLoad(seconds: number): Promise<SteadyLoad> {
  const issuer = await new Issuer().start()
  Object.assign(issuer, { lifetimeSeconds: 3, latencyMs: 100 })
  const api = await startServer((request, response) => {
    response.statusCode = issuer.accepts(request.headers.authorization) ? 200 : 401
    response.end()
  })
  const options = { authUrl: issuer.origin, clientId: 'client', clientSecret: 'secret' }
  const tokens = clientCredentials(options)
  const tokenFetch = createTokenFetch(tokens, { allowedOrigins: [api], retryOnRejection: false })
  const load = { calls: 0, waited: 0, rejected: 0, failed: 0 }
  await tokens.getToken()
  const under: Promise<void>[] = []
  const call = async (): Promise<void> => {
    load.calls++
    if (tokens.peekToken() === undefined) load.waited++
    try {
      const { status } = await tokenFetch(api)
      if (status !== 200) load.rejected++
    } catch {
      load.failed++
    }
  }
  const began = performance.now()
  while (performance.now() - began < seconds * 1000) {
    const due = Math.floor((performance.now() - began) / 5)
    while (load.calls < due) under.push(call())
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  await Promise.all(under)
  await tokens.close()
  return {
    ...load,
    tokenRequests: issuer.requests,
    mostTokenRequestsAtOnce: issuer.mostInFlight,
    tokens: issuer.issued.length,
  }
}

const table = createSoakTable()

it(
  'no request waits or fails under 200 requests a second with tokens of three seconds, for a minute',
  { timeout: 120_000 },
  async () => {
    const load = await table.measure('200 requests a second, tokens of 3 s', async () => {
      const load = await runSteadyLoad(60)
      const failures = load.rejected + load.failed
      return { ...load, failures, figures: `${load.waited} calls waited, ${load.tokens} tokens` }
    })
    expect(load).toMatchObject({ waited: 0, rejected: 0, failed: 0, mostTokenRequestsAtOnce: 1 })
    expect(load.calls).toBeGreaterThan(11_900)
    // A refresh every 2.34 to 2.46 s.
    expect(load.tokenRequests).toBeLessThanOrEqual(27)
    // The end of the minute may cut off a refresh.
    expect(load.tokenRequests - load.tokens).toBeOneOf([0, 1])
  },
)
