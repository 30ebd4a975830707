import { lookup } from 'node:dns/promises'
import { request, Agent } from 'node:http'
import { networkInterfaces } from 'node:os'
import { describe, expect, it, onTestFinished } from 'vitest'
import { requestToken, testService, application, tokenPath } from '../test-service.ts'

const hasIPv6 = Object.values(networkInterfaces())
  .flat()
  .some((each) => each?.address === '::1')

describe('a service that listens', () => {
  it.each([
    ['127.0.0.1', '127.0.0.1'],
    ['0.0.0.0', '127.0.0.1'],
    // Elsewhere, the loopback interface has one address.
    ...(process.platform === 'linux' ? [['127.0.0.2', '127.0.0.2'] as const] : []),
    ...(hasIPv6 ? [['::1', '[::1]'] as const, ['::', '[::1]'] as const] : []),
  ] as const)('on %s has a URL that clients on this machine can use', async (host, hostname) => {
    const { authUrl } = await testService({ host })
    expect(new URL(authUrl).hostname).toBe(hostname)
    expect((await requestToken(authUrl)).status).toBe(200)
  })

  it('on localhost listens at each of its addresses', async () => {
    const { authUrl } = await testService({ host: 'localhost' })
    for (const { address, family } of await lookup('localhost', { all: true })) {
      const host = family === 6 ? `[${address}]` : address
      expect((await requestToken(`http://${host}:${new URL(authUrl).port}`)).status).toBe(200)
    }
  })

  it.runIf(hasIPv6)('on an IPv6 address publishes it if the Host header names another one', async () => {
    const { authUrl } = await testService({ host: '::1' })
    const issuer = await new Promise<string>((resolve, reject) => {
      const headers = { host: 'evil.example' }
      request(`${authUrl}/.well-known/oauth-authorization-server`, { headers }, (response) => {
        response.setEncoding('utf8').on('data', (text: string) => resolve(JSON.parse(text).issuer))
      })
        .on('error', reject)
        .end()
    })
    expect(issuer).toBe(authUrl)
  })
})

const body = `client_id=${application.clientId}&client_secret=${application.clientSecret}`

/** Sends token requests one after another over one connection; resolves with why it stopped. */
async function keepBusy(authUrl: string): Promise<string> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  onTestFinished(() => agent.destroy())
  for (;;) {
    const outcome = await new Promise<string>((resolve) => {
      const sent = request(`${authUrl}${tokenPath}?grant_type=client_credentials`, {
        agent,
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded', 'content-length': body.length },
      })
      sent.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
      sent.on('response', (response) => {
        response.resume().on('end', () => resolve(String(response.statusCode)))
      })
      sent.end(body)
    })
    if (outcome !== '200') return outcome
  }
}

describe('a service that stops', () => {
  it('resets no connection of 30 busy clients', async () => {
    for (let run = 0; run < 10; run += 1) {
      const service = await testService()
      const clients = Array.from({ length: 30 }, () => keepBusy(service.authUrl))
      await requestToken(service.authUrl)
      await service.close({ drainSeconds: 0.05 })
      expect([...new Set(await Promise.all(clients))]).toEqual(['ECONNREFUSED'])
    }
  })

  it('does not wait for clients that keep their connections', async () => {
    const service = await testService()
    const clients = Array.from({ length: 30 }, () => keepBusy(service.authUrl))
    await requestToken(service.authUrl)
    const startedMs = performance.now()
    await service.close()
    await Promise.all(clients)
    // Idle connections would last 72 s.
    expect(performance.now() - startedMs).toBeLessThan(20_000)
  })

  it('asks clients to close their connections while it drains', async () => {
    const service = await testService()
    expect((await requestToken(service.authUrl)).headers.get('connection')).toBe('keep-alive')
    const closed = service.close({ drainSeconds: 1 })
    expect((await requestToken(service.authUrl)).headers.get('connection')).toBe('close')
    expect((await fetch(`${service.authUrl}/unknown`)).headers.get('connection')).toBe('close')
    await closed
  })
})
