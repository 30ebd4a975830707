import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ApiConfigs, RunningApis } from './apis/api-config.ts'
import { startHono } from './apis/hono.ts'
import { isBuilt, startNest } from './apis/nest.ts'
import { startExpress, startFastify } from './apis/node-apis.ts'
import { startWorkers } from './apis/workers.ts'
import { startAuthorizationServers, type AuthorizationServers } from './authorization-servers.ts'
import { sendRequest, type ApiResponse } from './send-request.ts'
import { hasAuthlib } from './servers/authlib.ts'
import { createDpopKey } from './servers/jwt-issuer.ts'
import { apiConfigs, verificationCases } from './verification-cases.ts'

const frameworks: Record<string, (configs: ApiConfigs) => Promise<RunningApis>> = {
  Fastify: startFastify,
  Express: startExpress,
  Hono: startHono,
  Workers: startWorkers,
  ...(isBuilt && {
    'NestJS 10': (configs) => startNest(10, 'express', configs),
    'NestJS 11': (configs) => startNest(11, 'express', configs),
    'NestJS 12': (configs) => startNest(12, 'express', configs),
    'NestJS 12 on Fastify': (configs) => startNest(12, 'fastify', configs),
  }),
}
const names = Object.keys(frameworks)

describe(`${names.join(', ')}${isBuilt ? '' : ' (run `pnpm build` for NestJS)'}`, () => {
  let servers: AuthorizationServers
  let running: RunningApis[] = []
  beforeAll(async () => {
    servers = await startAuthorizationServers()
    running = await Promise.all(Object.values(frameworks).map((start) => start(apiConfigs(servers))))
  })
  afterAll(async () => {
    await Promise.all(running.map((apis) => apis.close()))
    await servers?.close()
  })

  /** The same request to every framework. */
  async function sendToAll(
    path: string,
    headersFor: (
      url: string,
    ) => Promise<Record<string, string | string[]>> | Record<string, string | string[]>,
    query = '',
  ): Promise<Record<string, ApiResponse>> {
    const responses = await Promise.all(
      running.map(async ({ origin }, at) => {
        const url = `${origin}/${path}`
        return [names[at], await sendRequest(url + query, await headersFor(url))]
      }),
    )
    return Object.fromEntries(responses)
  }
  const fromAll = (response: object) => Object.fromEntries(names.map((name) => [name, response]))

  it.for(verificationCases.filter(({ needs }) => needs !== 'authlib' || hasAuthlib))(
    '$expected.status for $title',
    async ({ api, route = 'any', query, headers, expected }) => {
      const responses = await sendToAll(`${api}/${route}`, (url) => headers(servers, url), query)
      if (expected.status === 200) {
        expect(responses).toMatchObject(fromAll({ status: 200, body: expected.token }))
        return
      }
      const { status, challenge, retryAfter, body = expect.anything() } = expected
      expect(responses).toEqual(fromAll({ status, challenge, retryAfter, body }))
    },
  )

  it('a DPoP proof is accepted once', async () => {
    const { thumbprint, prove } = await createDpopKey()
    const token = await servers.jwt.sign({ cnf: { jkt: thumbprint } })
    const proofs = new Map<string, Promise<string>>()
    const proofFor = (url: string) => {
      if (!proofs.has(url)) proofs.set(url, prove({ method: 'GET', url, token }))
      return proofs.get(url)!
    }
    const headers = async (url: string) => ({ authorization: `DPoP ${token}`, dpop: await proofFor(url) })
    expect(await sendToAll('dpop/any', headers)).toMatchObject(fromAll({ status: 200 }))
    expect(await sendToAll('dpop/any', headers)).toMatchObject(
      fromAll({
        status: 401,
        challenge: expect.stringContaining('The DPoP proof has already been used'),
        body: { error: 'invalid_dpop_proof' },
      }),
    )
  })

  it('a new key of the issuer is accepted a second later, and a removed one no longer', async () => {
    const { jwt } = servers
    const first = `Bearer ${await jwt.sign()}`
    expect(await sendToAll('rotation/any', () => ({ authorization: first }))).toMatchObject(
      fromAll({ status: 200 }),
    )
    const old = jwt.keys[0]!
    await jwt.addKey('RS256')
    jwt.keys.shift()
    // The rejection of an unknown key is cached, too: a token for each try.
    await expect
      .poll(async () => {
        const fresh = `Bearer ${await jwt.sign()}`
        return sendToAll('rotation/any', () => ({ authorization: fresh }))
      })
      .toMatchObject(fromAll({ status: 200 }))
    const stale = `Bearer ${await jwt.sign({}, {}, old)}`
    expect(await sendToAll('rotation/any', () => ({ authorization: stale }))).toMatchObject(
      fromAll({ status: 401 }),
    )
    jwt.keys.unshift(old)
  })
})

if (!hasAuthlib) it.skip('Authlib needs: apt-get install python3-authlib python3-flask', () => {})
