import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import { connect } from 'node:net'
import timers from 'node:timers/promises'
import Fastify from 'fastify'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createTokenService } from '@tokenwell/token-service'
import { healthEndpoints } from '../../src/http/health-endpoints.ts'
import { application, requestToken, serviceWithContext, testService, tokenPath } from '../test-service.ts'
import { openTestMemory } from '../storage/open-test-storage.ts'

const get = async (url: string) => {
  const response = await fetch(url)
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() }
}

describe('the service', () => {
  it('publishes metadata with the query in the token endpoint', async () => {
    const { authUrl } = await testService()
    const { text } = await get(`${authUrl}/.well-known/oauth-authorization-server`)
    const secrets = ['client_secret_post', 'client_secret_basic']
    const algorithms = expect.arrayContaining(['RS256', 'ES256'])
    expect(JSON.parse(text)).toEqual({
      issuer: authUrl,
      authorization_endpoint: `${authUrl}/oauth/authorize`,
      jwks_uri: `${authUrl}/.well-known/jwks.json`,
      token_endpoint: `${authUrl}/oauth/client_credential/accesstoken?grant_type=client_credentials`,
      token_endpoint_auth_methods_supported: [...secrets, 'private_key_jwt'],
      token_endpoint_auth_signing_alg_values_supported: algorithms,
      grant_types_supported: ['client_credentials'],
      response_types_supported: [],
      dpop_signing_alg_values_supported: algorithms,
      introspection_endpoint: `${authUrl}/oauth/introspect`,
      introspection_endpoint_auth_methods_supported: [...secrets, 'private_key_jwt'],
      introspection_endpoint_auth_signing_alg_values_supported: algorithms,
      revocation_endpoint: `${authUrl}/oauth/revoke`,
      revocation_endpoint_auth_methods_supported: [...secrets, 'private_key_jwt'],
      revocation_endpoint_auth_signing_alg_values_supported: algorithms,
    })
  })

  it('publishes the metadata also where OpenID Connect Discovery looks for them', async () => {
    const { authUrl } = await testService()
    const oauth = await get(`${authUrl}/.well-known/oauth-authorization-server`)
    expect(await get(`${authUrl}/.well-known/openid-configuration`)).toEqual(oauth)
  })

  it('names no endpoint in the metadata that does not exist', async () => {
    const { authUrl } = await testService()
    const metadata = JSON.parse((await get(`${authUrl}/.well-known/openid-configuration`)).text) as object
    const members = Object.entries(metadata).filter(([name]) => /_(?:endpoint|uri)$/.test(name))
    const statuses = members.map(async ([name, url]) => [name, (await get(String(url))).status])
    expect(Object.fromEntries(await Promise.all(statuses))).toEqual({
      authorization_endpoint: 400,
      jwks_uri: 200,
      token_endpoint: 405,
      introspection_endpoint: 405,
      revocation_endpoint: 405,
    })
    expect(JSON.parse((await get(`${authUrl}/oauth/authorize?response_type=code`)).text)).toMatchObject({
      ErrorCode: 'unsupported_response_type',
    })
  })

  it('publishes its public URL, and no invalid Host header', async () => {
    const server = createTokenService({ publicUrl: 'https://tokens.example.com/' })
    const url = '/.well-known/oauth-authorization-server'
    const { issuer } = (await server.inject({ url, headers: { host: 'evil.example' } })).json()
    expect(issuer).toBe('https://tokens.example.com')
    await server.close()
    const bare = createTokenService()
    expect((await bare.inject({ url, headers: { host: 'a"b<script>' } })).statusCode).toBe(400)
    await bare.close()
  })

  it('publishes its own address if the Host header names another one', async () => {
    const { authUrl } = await testService()
    const issuerFor = (host: string) =>
      new Promise<string>((resolve, reject) => {
        request(`${authUrl}/.well-known/oauth-authorization-server`, { headers: { host } }, (response) => {
          response.setEncoding('utf8').on('data', (text: string) => resolve(JSON.parse(text).issuer))
        })
          .on('error', reject)
          .end()
      })
    for (const host of ['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example', '192.0.2.1']) {
      expect(await issuerFor(host)).toBe(authUrl)
    }
    expect(await issuerFor('localhost:1234')).toBe('http://localhost:1234')
  })

  it('is healthy and ready', async () => {
    const { authUrl } = await testService()
    expect(await get(`${authUrl}/healthz`)).toMatchObject({ status: 200, text: '{"status":"ok"}' })
    expect(await get(`${authUrl}/readyz`)).toMatchObject({ status: 200, text: '{"status":"ok"}' })
  })

  it('exports metrics of requests and rejections', async () => {
    const { authUrl } = await testService({ metrics: true })
    await requestToken(authUrl)
    await requestToken(authUrl, { ...application, clientSecret: 'canary' })
    await get(`${authUrl}/canary`)
    await get(`${authUrl}/healthz`)
    const { type, text } = await get(`${authUrl}/metrics`)
    expect(type).toMatch(/^text\/plain/)
    const path = '/oauth/client_credential/accesstoken'
    expect(text).toContain(`tokenwell_request_duration_seconds_count{path="${path}",status="200"} 1`)
    expect(text).toContain(`tokenwell_rejected_requests_total{path="${path}",reason="invalid_client"} 1`)
    expect(text).toContain('seconds_count{path="none",status="404"} 1')
    expect(text).toContain('seconds_count{path="/healthz",status="200"} 1')
    expect(text).toContain('process_cpu_user_seconds_total')
    expect(text).not.toContain('canary')
  })

  it('exports what somebody must see or decide, and the other metrics while the storage fails', async () => {
    const time = { now: Date.UTC(2026, 4, 1) }
    const inDays = (days: number) => new Date(time.now + days * 86_400_000).toISOString()
    const one = (clientId: string, days: number) => ({
      ...application,
      clientId,
      clientSecretExpiresAt: inDays(days),
    })
    const pending = { ...application, clientId: 'pending', status: 'pending' as const }
    const applications = [one('unused', 5), one('day', 0.5), one('week', 6), one('month', 29), pending]
    const { authUrl, context } = await serviceWithContext({
      metrics: true,
      applications,
      clock: { now: () => time.now },
    })
    for (const clientId of ['day', 'week', 'month']) await requestToken(authUrl, { ...application, clientId })
    time.now += 60_000
    await requestToken(authUrl, { ...application, clientId: 'week', clientSecret: 'wrong' })
    await context.activity.flush()
    const text = async () => (await get(`${authUrl}/metrics`)).text
    const series = async () =>
      (await text()).match(/^tokenwell_(pending|oldest|expiring|failing)\w*(\{.*\})? \d+$/gm)
    expect(await series()).toEqual([
      'tokenwell_pending_approvals 1',
      'tokenwell_oldest_pending_approval_seconds 60',
      'tokenwell_expiring_secrets{days="1"} 1',
      'tokenwell_expiring_secrets{days="7"} 2',
      'tokenwell_expiring_secrets{days="14"} 2',
      'tokenwell_expiring_secrets{days="30"} 3',
      'tokenwell_failing_clients 1',
    ])
    expect(await text()).not.toMatch(/client_id|="(unused|day|week|month|pending)"/)
    const alerts = readFileSync(
      new URL('../../../../docs/public/grafana/tokenwell-alerts.yaml', import.meta.url),
      'utf8',
    )
    for (const line of (await series())!) expect(alerts).toContain(/^\w+/.exec(line)![0])
    vi.spyOn(context.storage.listings, 'expiringSecrets').mockRejectedValue(new Error('canary'))
    const { status, text: rest } = await get(`${authUrl}/metrics`)
    expect([status, rest.includes('tokenwell_failing_clients 1')]).toEqual([200, true])
  })

  it.each([true, false])('keeps connections open between requests (sandbox: %s)', async (sandbox) => {
    const { authUrl } = await testService({ sandbox })
    const agent = new Agent({ keepAlive: true })
    onTestFinished(() => agent.destroy())
    const isReused = () =>
      new Promise<boolean>((resolve, reject) => {
        const sent = request(`${authUrl}${tokenPath}`, { agent, method: 'POST' }, (response) =>
          response.resume().on('close', () => resolve(sent.reusedSocket)),
        )
        sent.on('error', reject).end()
      })
    expect([await isReused(), await isReused()]).toEqual([false, true])
  })

  it('closes a connection that its client keeps open after the last response', async () => {
    const server = createTokenService()
    const { host, hostname, port } = new URL(await server.listen({ host: '127.0.0.1', port: 0 }))
    const socket = connect(Number(port), hostname)
    onTestFinished(() => void socket.destroy())
    let received = ''
    socket.setEncoding('utf8').on('data', (text: string) => (received += text))
    const requested = once(server.server, 'request')
    const head = `POST /oauth/revoke HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 7\r\n`
    socket.write(`${head}Content-Type: application/x-www-form-urlencoded\r\n\r\ntok`)
    await requested
    const closed = Promise.all([once(socket, 'close'), server.close()])
    socket.write('en=x')
    await closed
    expect(received).toMatch(/^HTTP\/1\.1 401 /)
  })

  it('finishes pending requests before it stops', async () => {
    const service = await testService({ sandbox: true })
    const { authUrl, sandboxUrl } = service
    const headers = { 'content-type': 'application/json' }
    await fetch(`${sandboxUrl}/faults`, { method: 'POST', headers, body: '{"latencyMs":300}' })
    const pending = requestToken(authUrl)
    await expect
      .poll(
        async () => (await fetch(`${sandboxUrl}/faults`).then((response) => response.json())) as unknown[],
        { timeout: 20_000 },
      )
      .toEqual([])
    await service.close()
    expect((await pending).status).toBe(200)
    await expect(requestToken(authUrl)).rejects.toThrow(/fetch failed/)
  })
})

const statusAndText = async (url: string) => {
  const response = await fetch(url)
  return [response.status, await response.text()]
}

describe('/readyz', () => {
  it('reports that the service is about to stop, which is still healthy', async () => {
    const service = await testService()
    const { authUrl } = service
    // Ended by hand: a busy machine may take longer than any time.
    let end = () => {}
    const isOver = new Promise<void>((resolve) => (end = resolve))
    const { setTimeout } = timers
    const delay = vi
      .spyOn(timers, 'setTimeout')
      .mockImplementation((ms, ...more) => (ms === 7_000 ? isOver : setTimeout(ms, ...more)))
    syncBuiltinESMExports()
    onTestFinished(() => {
      delay.mockRestore()
      syncBuiltinESMExports()
    })
    const closed = service.close({ drainSeconds: 7 })
    expect(delay).toHaveBeenCalledWith(7_000)
    expect(await statusAndText(`${authUrl}/readyz`)).toEqual([503, '{"status":"stopping"}'])
    expect(await statusAndText(`${authUrl}/healthz`)).toEqual([200, '{"status":"ok"}'])
    end()
    await closed
    await expect(fetch(`${authUrl}/healthz`)).rejects.toThrow(/fetch failed/)
  })

  it('reports that the database cannot be used', async () => {
    const { authUrl } = await testService({
      storage: 'postgres://127.0.0.1:1/x',
      secretHashKeys: ['k'.repeat(32)],
    })
    expect(await statusAndText(`${authUrl}/readyz`)).toEqual([503, '{"status":"storage unavailable"}'])
  })

  it('reports after 2 s that the database does not respond', async () => {
    const server = Fastify()
    const probe = vi.fn(() => new Promise<void>(() => {}))
    const storage = { ...(await openTestMemory()), probe }
    healthEndpoints(
      server,
      { storage, missingHashKeys: () => [], clockOffsetMs: () => undefined },
      () => false,
    )
    await server.ready()
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const response = server.inject('/readyz').then(({ statusCode, body }) => [statusCode, body])
    await expect.poll(() => probe).toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(2_000)
    expect(await response).toEqual([503, '{"status":"storage unavailable"}'])
  })
})
