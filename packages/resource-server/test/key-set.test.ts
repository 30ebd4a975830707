import { createRemoteKeySet } from '@tokenwell/resource-server/internal'
import { createFakeClock } from '@tokenwell/core/testing'
import { SignJWT } from 'jose'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { createSigningKey } from './servers/jwt-issuer.ts'

type SigningKey = Awaited<ReturnType<typeof createSigningKey>>

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  return () => {
    expect(vi.getTimerCount()).toBe(0)
    vi.useRealTimers()
  }
})

/** What an issuer publishes, which a test changes, and a key set that loads it. */
function setUp(...keys: readonly SigningKey[]) {
  const clock = createFakeClock()
  const published = {
    keys: keys.map(({ publicJwk }): unknown => publicJwk),
    loads: 0,
    failure: undefined as Error | undefined,
    /** What a load waits for. */
    delay: undefined as Promise<void> | undefined,
  }
  const keySet = createRemoteKeySet(
    async () => {
      published.loads++
      const { keys: found, failure, delay } = published
      await delay
      if (failure) throw failure
      return found
    },
    { pauseMs: 5_000, timeoutMs: 5_000, clock },
  )
  const verify = async (token: Promise<string>): Promise<string> =>
    keySet.verify(await token, { algorithms: ['ES256', 'RS256'] }).then(
      () => 'verified',
      (error: Error) => error.name,
    )
  const pass = async (ms: number) => {
    await vi.advanceTimersByTimeAsync(ms)
    clock.advance(ms)
  }
  return { clock, published, verify, pass }
}

let serial = 0
const sign = ({ privateKey, publicJwk }: SigningKey, { kid = publicJwk.kid, alg = publicJwk.alg! } = {}) =>
  new SignJWT({ serial: serial++ })
    .setProtectedHeader({ alg, ...(kid !== '' && { kid: kid! }) })
    .sign(privateKey)

describe('a key that does not fit', () => {
  it.each(['ES256', 'RS256'])('has been replaced under its ID by one for %s: it is loaded', async (alg) => {
    const [old, next] = [await createSigningKey('ES256', 'signing'), await createSigningKey(alg, 'signing')]
    const { published, verify, clock } = setUp(old)
    expect(await verify(sign(old))).toBe('verified')
    clock.advance(30_000)
    published.keys = [next.publicJwk]
    expect(await verify(sign(next))).toBe('verified')
    expect(published.loads).toBe(2)
    expect(await verify(sign(next))).toBe('verified')
    expect(published.loads).toBe(2)
  })

  it('causes one load a minute for each key ID', async () => {
    const [a, b, forger] = await Promise.all(['a', 'b', 'f'].map((kid) => createSigningKey('ES256', kid)))
    const { published, verify, clock } = setUp(a!, b!)
    expect(await verify(sign(a!))).toBe('verified')
    const forge = (kid: string) => verify(sign(forger!, { kid }))
    clock.advance(1_000)
    expect(await forge('a')).toBe('JWSSignatureVerificationFailed')
    expect(published.loads).toBe(2)
    clock.advance(59_999)
    expect(await forge('a')).toBe('JWSSignatureVerificationFailed')
    expect(published.loads).toBe(2)
    expect(await forge('b')).toBe('JWSSignatureVerificationFailed')
    expect(published.loads).toBe(3)
    clock.advance(1_000)
    expect(await forge('a')).toBe('JWSSignatureVerificationFailed')
    expect(published.loads).toBe(4)
  })

  it('is the reason of the rejection, also while keys cannot be loaded', async () => {
    const [key, forger] = [await createSigningKey('ES256', 'a'), await createSigningKey('ES256', 'a')]
    const { published, verify, clock } = setUp(key)
    expect(await verify(sign(key))).toBe('verified')
    clock.advance(1_000)
    published.failure = new TypeError('down')
    expect(await verify(sign(forger))).toBe('JWSSignatureVerificationFailed')
    expect(await verify(sign(key))).toBe('verified')
  })
})

describe('an unknown key ID', () => {
  it('is rejected only by a load that began when its token was here already', async () => {
    const [key, next] = [await createSigningKey(), await createSigningKey()]
    const { published, verify, clock, pass } = setUp(key)
    let complete = (): void => {}
    published.delay = new Promise((resolve) => (complete = resolve))
    const known = verify(sign(key))
    await vi.waitUntil(() => published.loads === 1)
    clock.advance(300)
    const late = [verify(sign(next)), verify(sign(await createSigningKey()))]
    await pass(0)
    published.delay = undefined
    published.keys.push(next.publicJwk)
    complete()
    expect(await known).toBe('verified')
    // At most one load a second.
    await pass(699)
    expect(published.loads).toBe(1)
    await pass(1)
    expect(await Promise.all(late)).toEqual(['verified', 'JWKSNoMatchingKey'])
    expect(published.loads).toBe(2)
  })

  it('closes nothing that is known, and is not rejected, while keys cannot be loaded', async () => {
    const [key, stranger] = [await createSigningKey(), await createSigningKey()]
    const { published, verify, clock } = setUp(key)
    expect(await verify(sign(key))).toBe('verified')
    published.failure = new TypeError('down')
    clock.advance(60_000)
    expect(await verify(sign(stranger))).toBe('TypeError')
    expect(await verify(sign(stranger))).toBe('TypeError')
    expect(published.loads).toBe(2)
    expect(await verify(sign(key))).toBe('verified')
    clock.advance(12 * 60_000)
    expect(await verify(sign(key))).toBe('verified')
    clock.advance(48 * 60_000)
    expect(await verify(sign(key))).toBe('TypeError')
  })
})

describe('a key set', () => {
  it('is tried key by key for a token without a key ID, at most 20 of them', async () => {
    const keys = await Promise.all(Array.from({ length: 21 }, () => createSigningKey()))
    const { verify } = setUp(...keys)
    expect(await verify(sign(keys[19]!, { kid: '' }))).toBe('verified')
    expect(await verify(sign(keys[20]!, { kid: '' }))).toBe('JWSSignatureVerificationFailed')
    expect(await verify(sign(keys[20]!))).toBe('verified')
  })

  it('is tried with at most 20 keys, also of those that cannot be used', async () => {
    const key = await createSigningKey()
    const { published, verify } = setUp()
    const point = Buffer.alloc(32, 1).toString('base64url')
    const unusable = { kty: 'EC', crv: 'P-256', x: point, y: point }
    const rsa = await createSigningKey('RS256')
    const others = Array.from({ length: 30 }, () => rsa.publicJwk)
    published.keys = [...others, ...Array.from({ length: 19 }, () => unusable), key.publicJwk]
    const imports = vi.spyOn(crypto.subtle, 'importKey')
    expect(await verify(sign(key, { kid: '' }))).toBe('verified')
    expect(imports).toHaveBeenCalledTimes(20)
    const second = setUp()
    second.published.keys = [...others, ...Array.from({ length: 20 }, () => unusable), key.publicJwk]
    expect(await second.verify(sign(key, { kid: '' }))).toBe('JWSSignatureVerificationFailed')
    imports.mockRestore()
  })

  it.each([[['verify']], [['sign', 'verify']], [undefined]])(
    'contains a key whose key_ops are %j',
    async (keyOps) => {
      const key = await createSigningKey()
      const { published, verify } = setUp()
      published.keys = [{ ...key.publicJwk, key_ops: keyOps }]
      expect(await verify(sign(key))).toBe('verified')
    },
  )
})
