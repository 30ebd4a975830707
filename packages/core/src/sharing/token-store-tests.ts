import type { TokenFailure } from '../protocol/token-error.ts'
import type { TokenResponse } from '../protocol/token-response.ts'
import type { TokenLease, TokenStore } from './token-store.ts'

/** A rule that every token store obeys, as a test for any test runner. */
export interface TokenStoreTest {
  /** States the rule. */
  readonly title: string
  /**
   * Creates a store, uses it with a key of its own, and closes it.
   *
   * @throws {Error} if the store does not obey the rule, with what was expected and what happened
   */
  readonly run: () => Promise<void>
}

/** Options of {@link tokenStoreTests}. */
export interface TokenStoreTestOptions {
  /** Advances the store's clock by at least `ms` milliseconds. @default waits that long */
  readonly passTime?: ((ms: number) => void | Promise<void>) | undefined
}

/**
 * Returns the tests that every token store passes, for a store of your own. They share no key, so all of them can use one
 * server. What a test expects to be valid lasts a minute, so that a slow machine fails no test.
 *
 * @example
 * for (const { title, run } of tokenStoreTests(() => createMyTokenStore(database))) test(title, run)
 */
export function tokenStoreTests(
  createStore: () => TokenStore | Promise<TokenStore>,
  { passTime = waitAtLeast }: TokenStoreTestOptions = {},
): readonly TokenStoreTest[] {
  return Object.entries({ ...tokenRules, ...keyRules, ...leaseRules, ...cooldownRules }).map(
    ([title, rule]) => ({
      title,
      run: async () => {
        const store = await createStore()
        try {
          await rule(new StoreUnderTest(store, passTime))
        } finally {
          await store.close?.()
        }
      },
    }),
  )
}

type Rule = (store: StoreUnderTest) => Promise<void>
type StoredToken = Extract<Awaited<ReturnType<TokenStore['read']>>, { readonly id: string }>

const minute = 60_000

/** One store and one key, which no other test uses. */
class StoreUnderTest {
  readonly store: TokenStore
  readonly passTime: (ms: number) => void | Promise<void>
  readonly key = `contract ${crypto.randomUUID()}`

  constructor(store: TokenStore, passTime: (ms: number) => void | Promise<void>) {
    this.store = store
    this.passTime = passTime
  }

  read(key = this.key): ReturnType<TokenStore['read']> {
    return this.store.read(key)
  }

  async readToken(key = this.key): Promise<StoredToken | undefined> {
    const entry = await this.store.read(key)
    return entry && 'id' in entry ? entry : undefined
  }

  /** The text of the stored token. */
  async readValue(key = this.key): Promise<string | undefined> {
    return (await this.readToken(key))?.response.accessToken
  }

  tryLease(ttlMs = minute, slot?: 'fallback'): Promise<TokenLease | undefined> {
    return this.store.lease(this.key, ttlMs, slot)
  }

  async lease(ttlMs = minute, key = this.key): Promise<TokenLease> {
    const lease = await this.store.lease(key, ttlMs)
    if (lease === undefined) throw new Error('The lease is not available, although no one holds it.')
    return lease
  }

  /** @returns the ID of the new entry */
  async write(token: string, lifetimeMs = minute, key = this.key): Promise<string> {
    const lease = await this.lease(minute, key)
    const id = await lease.write(responseWith(token), lifetimeMs)
    await lease.release()
    if (id === undefined) throw new Error('The holder of the lease could not write.')
    return id
  }
}

const tokenRules: Record<string, Rule> = {
  'returns undefined for a key that was not written': async (store) => {
    assertEqual(await store.read(), undefined)
  },

  'returns the complete response that was written': async (store) => {
    await store.write('first')
    assertEqual((await store.readToken())?.response, responseWith('first'))
  },

  'returns a response that holds only a token': async (store) => {
    const response: TokenResponse = { accessToken: 'bare', tokenType: 'Bearer', scope: [] }
    await (await store.lease()).write(response, minute)
    assertEqual((await store.readToken())?.response, response)
  },

  'assigns each write a new ID that does not contain the token': async (store) => {
    const first = await store.write('same-token')
    assertEqual((await store.readToken())?.id, first)
    const second = await store.write('same-token')
    assert(second !== first, 'two writes have the same ID')
    assertEqual((await store.readToken())?.id, second)
    assert(!(first + second).includes('same-token'), 'the ID contains the token')
  },

  'counts the lifetime from the moment the lease was acquired': async (store) => {
    const lease = await store.lease()
    await store.passTime(50)
    await lease.write(responseWith('aged'), minute)
    const { remainingMs = Number.NaN } = (await store.readToken()) ?? {}
    assertWithin(remainingMs, 0, minute - 50)
    await store.passTime(50)
    assertWithin((await store.readToken())?.remainingMs, 0, remainingMs - 50)
  },

  'forgets a token when it expires': async (store) => {
    await store.write('short-lived', 30)
    await store.passTime(40)
    assertEqual(await store.read(), undefined)
  },

  'does not return a token that had expired before it was written': async (store) => {
    const lease = await store.lease()
    await store.passTime(40)
    await lease.write(responseWith('expired on arrival'), 30)
    assertEqual(await store.read(), undefined)
  },

  'replaces a token with the next one': async (store) => {
    await store.write('first')
    await store.write('second')
    assertEqual(await store.readValue(), 'second')
  },

  'removes an entry by its ID': async (store) => {
    const id = await store.write('rejected')
    await store.store.remove(store.key, id)
    assertEqual(await store.read(), undefined)
  },

  'does not remove a newer entry by the ID of an older one': async (store) => {
    const old = await store.write('old')
    await store.write('new')
    await store.store.remove(store.key, old)
    assertEqual(await store.readValue(), 'new')
  },

  'removes nothing for an unknown ID or under another key': async (store) => {
    await store.store.remove(store.key, 'no such id')
    const id = await store.write('kept')
    await store.store.remove(`${store.key}, another`, id)
    assertEqual(await store.readValue(), 'kept')
  },
}

/** Keys that end in the same characters stay apart, whatever the characters mean to the server. */
const keyRules: Record<string, Rule> = Object.fromEntries(
  Object.entries({
    'no more characters': '',
    blanks: ' ',
    asterisks: '*',
    braces: '{a}:b',
    'the name of a prototype': '__proto__',
    'other characters': 'é\n🔑',
    '2,000 more characters': 'k'.repeat(2_000),
  }).map(([name, suffix]) => [
    `does not confuse two keys with ${name}`,
    async (store: StoreUnderTest) => {
      const [one, two] = [`${store.key}/1${suffix}`, `${store.key}/2${suffix}`]
      await store.write('one', minute, one)
      const other = await store.lease(minute, two)
      assertEqual(await store.read(two), undefined)
      await other.writeCooldown(rejection, minute)
      assert(!hasError(await store.read(one)), 'one key has the cooldown of the other')
      assertEqual(await store.readValue(one), 'one')
    },
  ]),
)

/** How every token store decides who requests a token, and whose results it accepts. */
const leaseRules: Record<string, Rule> = {
  'grants the lease to one of 50 concurrent callers': async (store) => {
    const leases = await Promise.all(Array.from({ length: 50 }, () => store.tryLease()))
    assertEqual(leases.filter(Boolean).length, 1)
  },

  'grants the lease again after it is released': async (store) => {
    const lease = await store.lease()
    assertEqual(await store.tryLease(), undefined)
    await lease.release()
    assert((await store.tryLease()) !== undefined, 'the lease is not granted again')
  },

  'returns the old token while the lease is held and after it is released': async (store) => {
    await store.write('old')
    const lease = await store.lease()
    assertEqual(await store.readValue(), 'old')
    await lease.release()
    assertEqual(await store.readValue(), 'old')
  },

  'grants the lease again after it expires': async (store) => {
    await store.lease(30)
    await store.passTime(40)
    assert((await store.tryLease()) !== undefined, 'the lease is not granted again')
  },

  'keeps a lease that its holder extends': async (store) => {
    let ttlMs = 100
    let lease = await store.lease(ttlMs)
    // A machine that is slow loses it, and tries again with more time.
    while (!(await lease.extend(minute))) {
      ttlMs *= 2
      assert(ttlMs < 10_000, 'the lease cannot be extended')
      lease = await store.lease(ttlMs)
    }
    await store.passTime(ttlMs + 10)
    assertEqual(await store.tryLease(), undefined)
    assert((await lease.write(responseWith('in time'), minute)) !== undefined, 'its holder cannot write')
  },

  'counts an extension from the moment of the call': async (store) => {
    const lease = await store.lease()
    await lease.extend(30)
    await store.passTime(40)
    assert((await store.tryLease()) !== undefined, 'the lease is not granted again')
  },

  'counts the lifetime from the lease, not from its extension': async (store) => {
    const lease = await store.lease()
    await store.passTime(50)
    await lease.extend(minute)
    await lease.write(responseWith('aged'), minute)
    assertWithin((await store.readToken())?.remainingMs, 0, minute - 50)
  },

  'ignores a holder that lost its lease to another one': async (store) => {
    const loser = await store.lease(30)
    await store.passTime(40)
    const winner = await store.lease()
    await winner.write(responseWith('of the winner'), minute)
    assertEqual(await loser.write(responseWith('too late'), minute), undefined)
    await loser.writeCooldown(rejection, minute)
    assertEqual(await loser.extend(minute), false)
    await loser.release()
    assert(!hasError(await store.read()), 'its cooldown was written')
    assertEqual(await store.readValue(), 'of the winner')
    assertEqual(await store.tryLease(), undefined)
  },

  'grants one lease of the slot "fallback" besides the first one': async (store) => {
    const lease = await store.lease()
    const all = await Promise.all(Array.from({ length: 10 }, () => store.tryLease(minute, 'fallback')))
    const [fallback, ...others] = all.filter((one) => one !== undefined)
    assert(
      fallback !== undefined && others.length === 0,
      `${others.length + 1} of 10 callers got it, not one`,
    )
    await fallback.write(responseWith('by the fallback'), minute)
    assertEqual(await store.readValue(), 'by the fallback')
    await fallback.release()
    assertEqual(await lease.extend(minute), true)
    assertEqual(await store.tryLease(), undefined)
    assert((await store.tryLease(minute, 'fallback')) !== undefined, 'the fallback is not granted again')
    await lease.write(responseWith('by the holder'), minute)
    assertEqual(await store.readValue(), 'by the holder')
  },

  'ignores the holder of an expired lease, even if the lease is free': async (store) => {
    const lease = await store.lease(30)
    await store.passTime(40)
    assertEqual(await lease.extend(minute), false)
    assertEqual(await lease.write(responseWith('too late'), minute), undefined)
    await lease.writeCooldown(rejection, minute)
    assertEqual(await store.read(), undefined)
  },

  'ignores the holder of a released lease and accepts a second release': async (store) => {
    const lease = await store.lease()
    await lease.release()
    await store.lease()
    await lease.release()
    assertEqual(await lease.extend(minute), false)
    assertEqual(await lease.write(responseWith('too late'), minute), undefined)
    assertEqual(await store.read(), undefined)
    assertEqual(await store.tryLease(), undefined)
  },
}

/** What every token store does with a rejection of the credentials. */
const cooldownRules: Record<string, Rule> = {
  'returns a cooldown to every reader with its remaining time': async (store) => {
    await (await store.lease()).writeCooldown(rejection, minute)
    const { cooldownMs, ...entry } = withError(await store.read())
    assertEqual(entry, { error: rejection })
    assertWithin(cooldownMs, 0, minute)
  },

  'forgets a cooldown when it is over': async (store) => {
    await (await store.lease()).writeCooldown(rejection, 30)
    await store.passTime(40)
    assertEqual(await store.read(), undefined)
  },

  'counts a cooldown from when it is written, not from the lease': async (store) => {
    const lease = await store.lease()
    await store.passTime(50)
    await lease.writeCooldown(rejection, minute)
    await store.passTime(1)
    assertWithin(withError(await store.read()).cooldownMs, 0, minute - 1)
  },

  'ends a cooldown when a token is written': async (store) => {
    const lease = await store.lease()
    await lease.writeCooldown(rejection, minute)
    await lease.release()
    await store.write('accepted again')
    assert(!hasError(await store.read()), 'the cooldown is still there')
    assertEqual(await store.readValue(), 'accepted again')
  },

  'returns a token that is still valid together with the cooldown of its refresh': async (store) => {
    const id = await store.write('old')
    await (await store.lease()).writeCooldown(rejection, minute)
    assertEqual((await store.readToken())?.id, id)
    assertEqual(withError(await store.read()).error, rejection)
    await store.store.remove(store.key, id)
    assertEqual(withError(await store.read()).error, rejection)
    assertEqual(await store.readToken(), undefined)
  },
}

type Entry = Awaited<ReturnType<TokenStore['read']>>
type Cooldown = Extract<Entry, { readonly error: TokenFailure }>

function hasError(entry: Entry): entry is Cooldown {
  return entry !== undefined && 'error' in entry && entry.error !== undefined
}

function withError(entry: Entry): Cooldown {
  assert(hasError(entry), 'there is no cooldown')
  return entry
}

const rejection: TokenFailure = {
  kind: 'credentials',
  message: 'The client is not known',
  status: 401,
  oauthError: 'invalid_client',
  failures: 3,
}

/** A token response with all members. */
function responseWith(accessToken: string): TokenResponse {
  return {
    accessToken,
    tokenType: 'Bearer',
    expiresIn: 60,
    refreshIn: 45,
    issuedAt: new Date('2026-01-02T03:04:05.678Z'),
    scope: ['read', 'write'],
    clientId: 'a-client',
    applicationName: 'Jürgen’s “app” \u0000 🔑',
    organizationName: 'An organization',
    developerEmail: 'developer@example.com',
    status: 'approved',
    refreshToken: 'a-refresh-token',
    refreshTokenExpiresIn: 0,
    refreshCount: 0,
    level: '1',
    apiProducts: ['speech-to-text', 'translation'],
    extra: {
      instance_url: 'https://tenant.example.com',
      issuedAt: 'text',
      nested: { list: [1, null, true] },
    },
  }
}

function assert(condition: boolean, problem: string): asserts condition {
  if (!condition) throw new Error(`The token store does not obey this rule: ${problem}.`)
}

function assertEqual(actual: unknown, expected: unknown): void {
  const [was, should] = [describeValue(actual), describeValue(expected)]
  assert(was === should, `it returned ${was} instead of ${should}`)
}

/** Above `low`, and not above `high`. */
function assertWithin(actual: number | undefined, low: number, high: number): void {
  assert(
    actual !== undefined && actual > low && actual <= high,
    `${actual} ms is not within ${low} and ${high} ms`,
  )
}

/** A text that is the same for equal values only: members in alphabetical order, dates marked as dates. */
function describeValue(value: unknown): string {
  if (value instanceof Date) return `Date ${value.toISOString()}`
  if (Array.isArray(value)) return `[${value.map(describeValue).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? String(value)
  const members = Object.entries(value).map(([name, member]) => `${name}: ${describeValue(member)}`)
  return `{ ${members.sort().join(', ')} }`
}

/** A timer may fire a moment early, and a store may count whole milliseconds. */
async function waitAtLeast(ms: number): Promise<void> {
  const end = performance.now() + ms + 1
  for (let left = ms + 1; left > 0; left = end - performance.now())
    await new Promise((resolve) => setTimeout(resolve, left))
}
