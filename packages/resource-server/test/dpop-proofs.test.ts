import { describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  TokenVerificationError,
  type DpopOptions,
  type TokenRequirements,
  type VerifiedRequest,
} from '@tokenwell/resource-server'
import { createTestVerifier } from '@tokenwell/resource-server/testing'
import { createFakeClock } from '@tokenwell/core/testing'
import { expectNoSecrets } from '@tokenwell/internal-testing'
import { createDpopKey } from './servers/jwt-issuer.ts'

describe('DPoP proofs', () => {
  const setUp = async (dpop: DpopOptions) => {
    const { thumbprint, prove } = await createDpopKey()
    const { verifier, createTestToken } = createTestVerifier({ dpop })
    const token = createTestToken({ claims: { cnf: { jkt: thumbprint } } })
    const url = 'https://orders.example.com/orders'
    const createRequest = async (jti?: string): Promise<VerifiedRequest> => ({
      method: 'GET',
      url,
      dpop: await prove({ method: 'GET', url, token }, jti === undefined ? {} : { jti }),
    })
    const verify = (request: VerifiedRequest, requirements: TokenRequirements = {}) =>
      verifier.verify(`DPoP ${token}`, { ...requirements, request })
    return { verify, createRequest }
  }
  const used = { code: 'invalid_dpop_proof', message: 'The DPoP proof has already been used.' }

  it('are accepted again for the same request, even at once, but not for another one', async () => {
    const ids: string[] = []
    const { verify, createRequest } = await setUp({
      rememberProof: async (id) => !ids.includes(id) && ids.push(id) > 0,
    })
    const request = await createRequest()
    await Promise.all([verify(request), verify(request)])
    await verify(request)
    await expect(verify(request, { scopes: ['orders:read'] })).rejects.toMatchObject({ status: 403 })
    expect(ids).toHaveLength(1)
    const replayed = { ...request }
    await expect(verify(replayed)).rejects.toMatchObject(used)
    await expect(verify(replayed)).rejects.toMatchObject(used)
    // Several objects may describe one incoming request.
    const incoming = {}
    const next = await createRequest()
    await verify({ ...next, incoming })
    await verify({ ...next, incoming })
    await expect(verify({ ...next, incoming: {} })).rejects.toMatchObject(used)
  })

  it('are checked once each for an object that describes a second request', async () => {
    const { verify, createRequest } = await setUp({})
    const [incoming, first, second] = [{}, await createRequest(), await createRequest()]
    await verify({ ...first, incoming })
    await verify({ ...second, incoming })
    await expect(verify({ ...first, incoming })).rejects.toMatchObject(used)
  })

  it.each<[string, DpopOptions, string]>([
    [
      'rememberProof throws',
      {
        rememberProof() {
          throw Object.assign(new Error('redis://user:canary@localhost'), { code: 'ECONNREFUSED' })
        },
      },
      'dpop.rememberProof failed (ECONNREFUSED).',
    ],
    [
      'rememberProof rejects',
      { rememberProof: () => Promise.reject(new TypeError('redis://user:canary@localhost')) },
      'dpop.rememberProof failed (TypeError).',
    ],
    ['too many are remembered', { maxProofs: 0 }, 'dpop.maxProofs is reached: 0 proofs are remembered.'],
  ])('that cannot be checked get a 503 if %s', async (_name, options, message) => {
    const { verify, createRequest } = await setUp(options)
    const error: unknown = await verify(await createRequest()).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(TokenVerificationError)
    expect(error).toMatchObject({
      status: 503,
      code: 'unavailable',
      headers: { 'retry-after': '1' },
      cause: { name: 'TokenError', kind: 'unavailable', message },
    })
    expectNoSecrets(error, ['canary'])
  })

  it('leave no timer behind once they are remembered', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const { verify, createRequest } = await setUp({ rememberProof: async () => true })
    await verify(await createRequest())
    expect(vi.getTimerCount()).toBe(0)
  })

  it('that are not remembered within 5 s get a 503', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const calls = new EventTarget()
    const called = new Promise((resolve) => calls.addEventListener('call', resolve))
    const { verify, createRequest } = await setUp({
      rememberProof() {
        calls.dispatchEvent(new Event('call'))
        return new Promise(() => {})
      },
    })
    const rejected = expect(verify(await createRequest())).rejects.toMatchObject({
      status: 503,
      cause: { kind: 'unavailable', message: 'dpop.rememberProof failed (TimeoutError).' },
    })
    await called
    await vi.advanceTimersByTimeAsync(4_999)
    expect(vi.getTimerCount()).toBe(1)
    await vi.advanceTimersByTimeAsync(1)
    await rejected
    expect(vi.getTimerCount()).toBe(0)
  })

  it.each([
    ['by default', {}, 60],
    ['with maxAgeSeconds', { maxAgeSeconds: 10 }, 10],
  ])('are remembered as long as they are accepted, %s', async (_which, options, maxAgeSeconds) => {
    const clock = createFakeClock()
    const remembered: Date[] = []
    const { verifier, createTestToken } = createTestVerifier({
      clock,
      dpop: { ...options, rememberProof: (_id, until) => remembered.push(until) > 0 },
    })
    const { thumbprint, prove } = await createDpopKey()
    const token = createTestToken({ claims: { cnf: { jkt: thumbprint } } })
    const url = 'https://orders.example.com/orders'
    const iat = Math.floor(clock.now() / 1000) + 1
    const dpop = await prove({ method: 'GET', url, token }, { iat })
    const verify = () => verifier.verify(`DPoP ${token}`, { request: { method: 'GET', url, dpop } })
    await verify()
    const [until] = remembered
    // Clocks may differ by a minute.
    expect(until).toEqual(new Date((iat + maxAgeSeconds + 60) * 1000))
    clock.advance(until!.getTime() - clock.now() - 1)
    await verify()
    clock.advance(1_001)
    await expect(verify()).rejects.toMatchObject({ code: 'invalid_dpop_proof' })
  })

  it('are never accepted twice, at any moment around the end of their time', async () => {
    const clock = createFakeClock()
    const { verifier, createTestToken } = createTestVerifier({ clock, dpop: {} })
    const { thumbprint, prove } = await createDpopKey()
    const token = createTestToken({ claims: { cnf: { jkt: thumbprint } } })
    const url = 'https://orders.example.com/orders'
    const dpop = await prove({ method: 'GET', url, token }, { iat: Math.floor(clock.now() / 1000) })
    const codeOf = () =>
      verifier.verify(`DPoP ${token}`, { request: { method: 'GET', url, dpop } }).then(
        () => 'accepted',
        ({ code }: TokenVerificationError) => code,
      )
    expect(await codeOf()).toBe('accepted')
    clock.advance(119_800)
    const codes: string[] = []
    for (let step = 0; step < 20; step += 1) {
      codes.push(await codeOf())
      clock.advance(100)
    }
    expect(codes).toEqual(Array.from({ length: 20 }, () => 'invalid_dpop_proof'))
  })

  it('are forgotten when they are no longer accepted: the memory of a process is bounded, and never stays full', async () => {
    const clock = createFakeClock()
    const { verifier, createTestToken } = createTestVerifier({ clock, dpop: { maxProofs: 3 } })
    const { thumbprint, prove } = await createDpopKey()
    const url = 'https://orders.example.com/orders'
    const statusNow = async () => {
      const token = createTestToken({ claims: { cnf: { jkt: thumbprint } } })
      const dpop = await prove({ method: 'GET', url, token }, { iat: Math.floor(clock.now() / 1000) })
      return verifier.verify(`DPoP ${token}`, { request: { method: 'GET', url, dpop } }).then(
        () => 200,
        ({ status }: TokenVerificationError) => status,
      )
    }
    for (let round = 0; round < 3; round += 1) {
      expect([await statusNow(), await statusNow()]).toEqual([200, 200])
      clock.advance(40_000)
      expect([await statusNow(), await statusNow()]).toEqual([200, 503])
      clock.advance(80_000)
      // The first two have been forgotten, and the third one has not.
      expect([await statusNow(), await statusNow(), await statusNow()]).toEqual([200, 200, 503])
      clock.advance(120_000)
    }
  })

  it('are accepted from clients whose clocks are off by up to a minute; otherwise, the response names the clock', async () => {
    const clock = createFakeClock()
    const { verifier, createTestToken } = createTestVerifier({ clock, dpop: {} })
    const { thumbprint, prove } = await createDpopKey()
    const url = 'https://orders.example.com/orders'
    const resultOf = async (aheadSeconds: number) => {
      const token = createTestToken({ claims: { cnf: { jkt: thumbprint } } })
      const iat = Math.floor(clock.now() / 1000) + aheadSeconds
      const dpop = await prove({ method: 'GET', url, token }, { iat })
      return verifier.verify(`DPoP ${token}`, { request: { method: 'GET', url, dpop } }).then(
        () => 'accepted',
        ({ message, reason }: TokenVerificationError) => [message, reason?.claim],
      )
    }
    for (const seconds of [-119, -65, 20, 60]) expect(await resultOf(seconds)).toBe('accepted')
    expect(await resultOf(-121)).toEqual([
      'The DPoP proof was created 121 s ago. Check the clock of the client.',
      'iat',
    ])
    expect(await resultOf(61)).toEqual([
      'The DPoP proof was created 61 s in the future. Check the clock of the client.',
      'iat',
    ])
  })

  it.each([
    [{ htm: 'POST' }, 'The DPoP proof is for another method.', 'htm', 'POST', 'GET'],
    [
      { htu: 'http://10.0.0.1/orders' },
      'The DPoP proof is for another URL.',
      'htu',
      'http://10.0.0.1/orders',
      'https://orders.example.com/orders',
    ],
    [{ ath: 'x' }, 'The DPoP proof is for another access token.', 'ath', 'x', 'the hash of the access token'],
    [
      { jti: 'x'.repeat(513) },
      'The DPoP proof is malformed or not signed by its key.',
      'jti',
      expect.any(String),
      'a text of 1 to 512 characters',
    ],
  ])('that are rejected for %j have a reason', async (claims, message, claim, received, expected) => {
    const { verifier, createTestToken } = createTestVerifier({ dpop: {} })
    const { thumbprint, prove } = await createDpopKey()
    const token = createTestToken({ claims: { cnf: { jkt: thumbprint } } })
    const url = 'https://orders.example.com/orders'
    const dpop = await prove({ method: 'GET', url, token }, claims)
    await expect(
      verifier.verify(`DPoP ${token}`, { request: { method: 'GET', url, dpop } }),
    ).rejects.toMatchObject({
      code: 'invalid_dpop_proof',
      message,
      reason: { claim, received, expected },
    })
  })

  describe('are for the URL of the request', () => {
    const statusFor = async (htu: string, url: string | undefined, publicUrl?: string) => {
      const { thumbprint, prove } = await createDpopKey()
      const { verifier, createTestToken } = createTestVerifier({ dpop: {}, publicUrl })
      const token = createTestToken({ claims: { cnf: { jkt: thumbprint } } })
      const dpop = await prove({ method: 'GET', url: htu, token })
      const verified = verifier.verify(`DPoP ${token}`, { request: { method: 'GET', url, dpop } })
      return verified.then(
        () => 200,
        ({ status, code }: TokenVerificationError) => [status, code],
      )
    }
    const origin = 'https://orders.example.com'
    const other = [401, 'invalid_dpop_proof']

    it.each([
      ['without query and fragment', `${origin}/orders`, `${origin}/orders?page=2`, 200],
      ['with a query and a fragment in the proof', `${origin}/orders?page=1#top`, `${origin}/orders`, 200],
      ['with the default port', `${origin}:443/orders`, `${origin}/orders`, 200],
      [
        'with capital letters in scheme and host',
        'HTTPS://Orders.Example.com/orders',
        `${origin}/orders`,
        200,
      ],
      ['with encoded unreserved characters', `${origin}/%7Eme/%6frders`, `${origin}/~me/orders`, 200],
      ['with small letters in an encoding', `${origin}/a%2fb`, `${origin}/a%2Fb`, 200],
      ['with a path of the same characters, encoded', `${origin}/a%2Fb`, `${origin}/a/b`, other],
      ['with another scheme', 'http://orders.example.com/orders', `${origin}/orders`, other],
      ['with another host', 'https://billing.example.com/orders', `${origin}/orders`, other],
      ['with another port', `${origin}:8443/orders`, `${origin}/orders`, other],
      ['with another path', `${origin}/Orders`, `${origin}/orders`, other],
      ['that is not a URL', '/orders', `${origin}/orders`, other],
      ['of a request whose URL is not one', '/orders', '/orders', other],
      ['with dot segments that the request does not have', `${origin}/a/../orders`, `${origin}/orders`, 200],
      ['for what dot segments lead to', `${origin}/orders`, `${origin}/a/../orders`, other],
      ['for what encoded dot segments lead to', `${origin}/orders`, `${origin}/a/%2e%2e/orders`, other],
      ['for what backslashes lead to', `${origin}/orders`, `${origin}/a\\..\\orders`, other],
      ['for a host with backslashes', `${origin}/orders`, `${origin}\\..\\orders`, other],
      ['with characters that need an encoding', `${origin}/a%7Cb%5E%C3%BC`, `${origin}/a|b^\xc3\xbc`, 200],
      ['of a request whose host is invalid', `${origin}/orders`, undefined, [400, 'invalid_request']],
    ])('%s', async (_which, htu, url, expected) => {
      expect(await statusFor(htu, url)).toEqual(expected)
    })

    it.each([
      ['the path', `${origin}/orders`, '/orders?page=2', origin, 200],
      ['an internal URL', `${origin}/orders`, 'http://10.0.0.1:3000/orders', origin, 200],
      ['an internal URL in capital letters', `${origin}/orders`, 'HTTP://INTERNAL/orders', origin, 200],
      ['an internal URL without a path', `${origin}/`, 'http://internal?page=2', origin, 200],
      ['a path below the public one', `${origin}/v1/orders`, '/orders', `${origin}/v1`, 200],
      ['a path below one that ends with a slash', `${origin}/v1/orders`, '/orders', `${origin}/v1/`, 200],
      ['a path with a URL in it', `${origin}/to/http://a/b`, '/to/http://a/b', origin, 200],
      ['a proof for the internal URL', 'http://internal/orders', 'http://internal/orders', origin, other],
      ['a path with dot segments', `${origin}/orders`, '/a/../orders', origin, other],
      ['a proof above the public path', `${origin}/orders`, '/orders', `${origin}/v1`, other],
    ])('at publicUrl, with %s', async (_which, htu, url, publicUrl, expected) => {
      expect(await statusFor(htu, url, publicUrl)).toEqual(expected)
    })
  })
})
