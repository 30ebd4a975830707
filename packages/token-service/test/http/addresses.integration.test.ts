import { lookup } from 'node:dns/promises'
import { request } from 'node:http'
import { networkInterfaces } from 'node:os'
import { describe, expect, it } from 'vitest'
import { requestToken, testService } from '../test-service.ts'

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
