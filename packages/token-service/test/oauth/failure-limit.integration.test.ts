import { request } from 'node:http'
import { expect, it, describe } from 'vitest'
import { createFailedAttemptLimit } from '../../src/oauth/failed-attempt-limit.ts'
import { allowedRanges, isInRange, networkOf } from '../../src/runtime/ip-addresses.ts'
import { application, introspect, postForm, requestToken, testService, tokenPath } from '../test-service.ts'
import { openTestMemory } from '../storage/open-test-storage.ts'

it('can be checked without an attempt, before an expensive operation', async () => {
  const time = { now: 0 }
  const { failures: storage } = await openTestMemory()
  const limit = createFailedAttemptLimit(storage, { now: () => time.now }, { attempts: 2, windowSeconds: 60 })
  const check = (address = '192.0.2.1', clientId = 'ada') => limit.check(address, clientId)
  await check()
  await limit.failed('192.0.2.1', 'ada')
  time.now = 1_000
  await check()
  await limit.failed('192.0.2.1', 'ada')
  await expect(check()).rejects.toMatchObject({
    reason: 'too_many_failures',
    details: { retryAfterSeconds: 59 },
  })
  await check('192.0.2.2')
  await check('192.0.2.1', 'grace')
  time.now = 60_000
  await check()
})

const wrong = { ...application, clientSecret: 'wrong' }

/** A token request from another of this machine's loopback addresses. */
function requestFrom(localAddress: string, authUrl: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const url = `${authUrl}${tokenPath}?grant_type=client_credentials`
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    request(url, { method: 'POST', headers, localAddress }, (response) =>
      resolve(response.resume().statusCode),
    )
      .on('error', reject)
      .end(`client_id=${application.clientId}&client_secret=wrong`)
  })
}

describe('the limit on failed attempts', () => {
  it('reports further failures from one address for one client as 429 until the window ends', async () => {
    let now = 1_000_000
    const { authUrl } = await testService({ clock: { now: () => now } })
    for (let attempt = 0; attempt < 10; attempt += 1)
      expect((await requestToken(authUrl, wrong)).status).toBe(401)
    now += 20_500
    const limited = await requestToken(authUrl, wrong)
    expect(limited.status).toBe(429)
    expect(limited.headers.get('retry-after')).toBe('40')
    expect(limited.body.fault.detail.errorcode).toBe('policies.ratelimit.QuotaViolation')
    now += 39_500
    expect((await requestToken(authUrl, wrong)).status).toBe(401)
  })

  it('never rejects the right secret', async () => {
    const { authUrl } = await testService()
    for (let round = 0; round < 10; round += 1) {
      const attempts = Array.from({ length: 20 }, () => requestToken(authUrl, wrong))
      expect((await requestToken(authUrl)).status).toBe(200)
      await Promise.all(attempts)
    }
    expect((await requestToken(authUrl)).status).toBe(200)
  })

  it('counts concurrent guesses', async () => {
    const { authUrl } = await testService()
    const guesses = await Promise.all(Array.from({ length: 300 }, () => requestToken(authUrl, wrong)))
    expect(guesses.filter(({ status }) => status === 401)).toHaveLength(10)
    expect(guesses.filter(({ status }) => status === 429)).toHaveLength(290)
  })

  it.runIf(process.platform === 'linux')('counts by address', async () => {
    const { authUrl } = await testService({ failureAttempts: 2 })
    for (let attempt = 0; attempt < 3; attempt += 1) await requestToken(authUrl, wrong)
    expect((await requestToken(authUrl, wrong)).status).toBe(429)
    expect(await requestFrom('127.0.0.2', authUrl)).toBe(401)
  })

  it('counts by the address that the trusted proxy reports, not by one that the client invents', async () => {
    const { authUrl } = await testService({ failureAttempts: 2, trustProxy: 1 })
    const url = `${authUrl}${tokenPath}?grant_type=client_credentials`
    const form = { client_id: application.clientId, client_secret: 'wrong' }
    const statuses = []
    for (let guess = 0; guess < 4; guess += 1) {
      const headers = { 'x-forwarded-for': `10.0.0.${guess}, 192.0.2.1` }
      statuses.push((await postForm(url, form, headers)).status)
    }
    expect(statuses).toEqual([401, 401, 429, 429])
    expect((await postForm(url, form, { 'x-forwarded-for': '192.0.2.2' })).status).toBe(401)
  })

  it('counts by IPv6 /64, and by the /48 above it', async () => {
    const { authUrl } = await testService({ trustProxy: 1 })
    const guess = (address: string, credentials = wrong) =>
      postForm(
        `${authUrl}${tokenPath}?grant_type=client_credentials`,
        { client_id: credentials.clientId, client_secret: credentials.clientSecret },
        { 'x-forwarded-for': address },
      )
    const statuses = []
    for (let network = 0; network < 40; network += 1)
      statuses.push((await guess(`2001:db8:1:${network}::1`)).status)
    expect(statuses.filter((status) => status === 401)).toHaveLength(20)
    expect(statuses.slice(20).every((status) => status === 429)).toBe(true)
    expect((await guess('2001:db8:1:99::1', application)).status).toBe(200)
    for (let host = 0; host < 11; host += 1) statuses.push((await guess(`2001:db8:2:1::${host}`)).status)
    expect(statuses.slice(-2)).toEqual([401, 429])
  })

  it('counts by client', async () => {
    const { authUrl } = await testService({ failureAttempts: 1 })
    expect((await requestToken(authUrl, wrong)).status).toBe(401)
    expect((await requestToken(authUrl, wrong)).status).toBe(429)
    expect((await requestToken(authUrl, { ...wrong, clientId: 'other' })).status).toBe(401)
  })

  it('applies to unknown clients too', async () => {
    const { authUrl } = await testService({ failureAttempts: 2 })
    const nobody = { ...application, clientId: 'nobody' }
    const statuses = []
    for (let attempt = 0; attempt < 3; attempt += 1)
      statuses.push((await requestToken(authUrl, nobody)).status)
    expect(statuses).toEqual([401, 401, 429])
  })

  it('counts only failures', async () => {
    const { authUrl } = await testService({ failureAttempts: 2 })
    for (let attempt = 0; attempt < 5; attempt += 1) expect((await requestToken(authUrl)).status).toBe(200)
  })

  it('applies to introspection too, in the format of RFC 6749', async () => {
    const { authUrl } = await testService({
      failureAttempts: 1,
      resourceServers: [{ clientId: 'speech-api', clientSecret: 'another' }],
    })
    expect((await introspect(authUrl, 'x')).status).toBe(401)
    const { status, body } = await introspect(authUrl, 'x')
    expect([status, body.error]).toEqual([429, 'slow_down'])
  })
})

it.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0db8:0001:0002::9', '2001:db8:1:2::/64'],
  ['2001:db8::9', '2001:db8::/64'],
  ['fe80::1%eth0', 'fe80::/64'],
  ['::1', '::/64'],
  ['::', '::/64'],
])('counts failures of %s by %s', (ip, network) => {
  expect(networkOf(ip)).toBe(network)
})

it.each([
  ['10.0.0.0/8', '10.1.2.3', true],
  ['10.0.0.0/8', '11.1.2.3', false],
  ['10.0.0.1', '10.0.0.1', true],
  ['10.0.0.1', '::ffff:10.0.0.1', true],
  ['10.0.0.1', '10.0.0.2', false],
  ['fd00::/8', 'fd12::1', true],
  ['fd00::1', 'fd00::1', true],
  ['fd00::1', 'fd00::2', false],
  ['fd00::1', '10.0.0.1', false],
  ['keys.internal', '10.0.0.1', false],
])('with %s allowed, %s is allowed: %j', (allowed, address, isAllowed) => {
  expect(isInRange(address, allowedRanges([allowed], 'jwksAllowedHosts'))).toBe(isAllowed)
})
