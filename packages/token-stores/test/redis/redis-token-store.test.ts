import { setTimeout } from 'node:timers/promises'
import { inspect } from 'node:util'
import { TokenError } from '@tokenwell/core'
import { createRedisTokenStore, type RedisTokenStoreOptions } from '@tokenwell/token-stores/redis'
import { Cluster, Redis } from 'ioredis'
import { Cluster as Cluster5, Redis as Redis5 } from 'ioredis-5'
import { createClient, createClientPool, createCluster, createSentinel } from 'redis'
import {
  createClient as createClient5,
  createCluster as createCluster5,
  createSentinel as createSentinel5,
} from 'redis-5'
import { describe, expect, it, onTestFinished, vi } from 'vitest'

const client = createClient()
const cluster = { rootNodes: [{ url: 'redis://127.0.0.1:1' }] }
const sentinel = { name: 'main', sentinelRootNodes: [{ host: '127.0.0.1', port: 1 }] }
/** How Redis 6 begins the error of a command in a script. */
const inScript = 'ERR Error running script (call to f_0123456789abcdef): @user_script:1:'

function errorOf(options: unknown): TokenError {
  try {
    createRedisTokenStore(options as RedisTokenStoreOptions)
  } catch (error) {
    if (error instanceof TokenError) return error
  }
  throw new Error('The options were accepted')
}

describe('createRedisTokenStore', () => {
  it('accepts every client of redis and ioredis before it is connected', () => {
    const clients = [
      createClient(),
      createClient({ RESP: 2, name: 'mine' }),
      createClientPool(),
      createCluster(cluster),
      createSentinel(sentinel),
      createClient5(),
      createCluster5(cluster),
      createSentinel5(sentinel),
      new Redis({ lazyConnect: true }),
      new Cluster(['redis://127.0.0.1:1'], { lazyConnect: true }),
      new Redis5({ lazyConnect: true }),
      new Cluster5(['redis://127.0.0.1:1'], { lazyConnect: true }),
    ] satisfies RedisTokenStoreOptions['client'][]
    for (const one of clients) expect(createRedisTokenStore({ client: one })).toHaveProperty('lease')
  })

  it('accepts encryption keys as bytes, base64 and base64url', () => {
    const bytes = crypto.getRandomValues(new Uint8Array(32))
    const texts = (['base64', 'base64url'] as const).map((encoding) => Buffer.from(bytes).toString(encoding))
    expect(() => createRedisTokenStore({ client, encryptionKeys: [bytes, ...texts] })).not.toThrow()
  })

  it.each([
    [{}, /^client must be a client of the redis or ioredis package/],
    [{ client: null }, /^client must be/],
    [{ client: { evalsha() {} } }, /^client must be/],
    [{ client, keyPrefix: 7 }, /^keyPrefix must be/],
    [{ client, encryptionKeys: [] }, /^encryptionKeys is empty/],
    [{ client, encryptionKeys: 'x' }, /^encryptionKeys must be a list/],
    [
      { client, encryptionKeys: [undefined] },
      /^encryptionKeys\[0\] must be 32 bytes.*but it is undefined\.$/,
    ],
    [{ client, encryptionKeys: [null] }, /^encryptionKeys\[0\] .*but it is null\.$/],
    [
      { client, encryptionKeys: [new Uint8Array(32), new Uint8Array(31)] },
      /^encryptionKeys\[1\] .*but it has 31\.$/,
    ],
    [{ client, encryptionKeys: ['top secret phrase'] }, /^encryptionKeys\[0\] .*but it is not base64\.$/],
    [{ client, encryptionKeys: ['00'.repeat(32)] }, /^encryptionKeys\[0\] .*but it has 48\.$/],
  ])('names the invalid option of %j', (options, message) => {
    const error = errorOf(options)
    expect(error.kind).toBe('configuration')
    expect(error.message).toMatch(message)
    expect(error.message).not.toContain('secret')
  })

  it('shows no encryption key when the store is logged', () => {
    const key = Buffer.alloc(32, 'k')
    const store = createRedisTokenStore({ client, encryptionKeys: [key] })
    const shown = inspect(store, { depth: 10, showHidden: true }) + JSON.stringify(store)
    expect(shown).not.toContain('kkkk')
    expect(shown).not.toContain(key.toString('base64').slice(0, 20))
  })

  it.each([
    ['TRYAGAIN Multiple keys request during rehashing of slot', 'TRYAGAIN', 'key'],
    ['MOVED 866 127.0.0.1:7001', 'MOVED', 'key'],
    ['ASK 866 127.0.0.1:7001', 'ASK', 'key'],
    ['Too many Cluster redirections. Last error: ReplyError: MOVED 866 127.0.0.1:7001', 'MOVED', 'key'],
    ["CROSSSLOT Keys in request don't hash to the same slot", 'CROSSSLOT', 'key'],
    ['WRONGTYPE Operation against a key holding the wrong kind of value', 'WRONGTYPE', 'key'],
    [`${inScript} WRONGTYPE Operation against a key holding the wrong kind of value`, 'WRONGTYPE', 'key'],
    [`${inScript} READONLY You can't write against a read only replica.`, 'READONLY', undefined],
    ["ERR unknown command 'ASK'", 'ERR', undefined],
    ['CLUSTERDOWN Hash slot not served', 'CLUSTERDOWN', 'key'],
    ['CLUSTERDOWN The cluster is down', 'CLUSTERDOWN', undefined],
    ["READONLY You can't write against a read only replica.", 'READONLY', undefined],
    ["NOPERM this user has no permissions to run the 'evalsha' command", 'NOPERM', undefined],
    ["ERR The user executing the script can't run this command or subcommand", 'NOPERM', undefined],
    ['Socket closed unexpectedly', 'Error', undefined],
    ['The TLS connection was closed', 'Error', undefined],
  ])('reports "%s" as %s', async (reply, code, scope) => {
    const error = new Error(reply)
    const fails = () => Promise.reject(error)
    const evalsha = { status: 'ready', eval: fails, evalsha: fails }
    const wrapper = new Error('Too many redirections', { cause: error })
    const wrapped = () => Promise.reject(wrapper)
    const evalSha = { isOpen: true, eval: wrapped, evalSha: wrapped }
    for (const [failing, cause] of [
      [evalsha, error],
      [evalSha, wrapper],
    ] as const) {
      const store = createRedisTokenStore({ client: failing })
      // First with the source of the script, then with its digest.
      for (let call = 0; call < 2; call++)
        await expect(store.read('key')).rejects.toMatchObject({ code, scope, cause })
    }
  })

  it('reports the code of an error of the client, even if its text looks like a reply', async () => {
    const error = Object.assign(new Error('TLS handshake failed'), { code: 'EPROTO' })
    const fails = () => Promise.reject(error)
    const store = createRedisTokenStore({ client: { isOpen: true, eval: fails, evalSha: fails } })
    await expect(store.read('key')).rejects.toMatchObject({ code: 'EPROTO' })
  })

  it('fails at once while the client is not connected', async () => {
    const offline = createClient({ url: 'redis://127.0.0.1:1' })
    const store = createRedisTokenStore({ client: offline })
    await expect(store.read('key')).rejects.toMatchObject({
      code: 'not_connected',
      message: 'Redis is not connected',
    })
    await expect(store.lease('key', 5_000)).rejects.toMatchObject({ code: 'not_connected' })
    await expect(store.remove('key', 'id')).rejects.toMatchObject({ code: 'not_connected' })
  })

  it.each([
    ['redis', (isReady: boolean) => ({ isOpen: true, isReady })],
    ['ioredis', (isReady: boolean) => ({ status: isReady ? 'ready' : 'connecting' })],
  ])('waits for a new client of %s that connects, for as long as for a reply', async (name, state) => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const reply = async () => ['1700000000000', null, null]
    const scripts = name === 'redis' ? { eval: reply, evalSha: reply } : { eval: reply, evalsha: reply }
    const connecting = { ...state(false), ...scripts } as unknown as RedisTokenStoreOptions['client']
    const store = createRedisTokenStore({ client: connecting })
    const read = store.read('key')
    await vi.advanceTimersByTimeAsync(190)
    Object.assign(connecting, state(true))
    await vi.advanceTimersByTimeAsync(10)
    await expect(read).resolves.toBeUndefined()

    Object.assign(connecting, state(false))
    const other = createRedisTokenStore({ client: connecting })
    const late = expect(other.read('key')).rejects.toMatchObject({ code: 'not_connected' })
    await vi.advanceTimersByTimeAsync(210)
    await late
    // From then on, at once.
    await expect(other.read('key')).rejects.toMatchObject({ code: 'not_connected' })
    await expect(store.read('key')).rejects.toMatchObject({ code: 'not_connected' })
  })
})

const lost = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })

describe('the command for a lease', () => {
  const readOnly = new Error("READONLY You can't write against a read only replica.")

  it.each([
    ['is not followed by a release if Redis rejects it', [readOnly], 1],
    ['is followed by one release if its reply is lost', [lost, [1]], 2],
    [
      'is followed by one release if its reply is lost, even if Redis rejects the release',
      [lost, readOnly],
      2,
    ],
    ['is followed by releases until one arrives', [lost, lost, lost, [1]], 4],
  ])('%s', async (_what, replies, sent) => {
    let commands = 0
    const evalSha = async () => {
      const reply = replies[commands++]
      if (reply instanceof Error) throw reply
      return reply
    }
    const store = createRedisTokenStore({ client: { isOpen: true, eval: evalSha, evalSha } })
    await expect(store.lease('key', 60_000)).rejects.toMatchObject({ cause: replies[0] })
    await expect.poll(() => commands).toBe(sent)
    // Longer than the pause between two attempts.
    await setTimeout(300)
    expect(commands).toBe(sent)
  })
})

describe('a release whose reply is lost', () => {
  it.each([
    ['as long as an extended lease lasts', 1],
    ['no longer than a lease lasts that could not be extended', 0],
  ])('is repeated %s', async (_what, extended) => {
    /** For a lease of 300 ms, one every 100 ms. */
    const limit = 5
    const replies = [1_000, extended]
    let releases = 0
    const evalSha = async () => {
      if (replies.length > 0) return replies.shift()
      releases += 1
      throw lost
    }
    const store = createRedisTokenStore({ client: { isOpen: true, eval: evalSha, evalSha } })
    const lease = (await store.lease('key', 300))!
    await lease.extend(60_000)
    await expect(lease.release()).rejects.toMatchObject({ cause: lost })
    if (extended) {
      await expect.poll(() => releases).toBeGreaterThan(limit)
      replies.push(1)
    } else {
      await setTimeout(600)
      expect(releases).toBeLessThanOrEqual(limit)
    }
  })
})

describe('a reply of Redis', () => {
  const read = (reply: unknown, onEvent?: RedisTokenStoreOptions['onEvent']) => {
    const evalSha = async () => reply
    return createRedisTokenStore({ client: { isOpen: true, eval: evalSha, evalSha }, onEvent }).read('key')
  }
  const entry = 'an-id.3000.{"access_token":"a-token","token_type":"Bearer"}'

  it.each([undefined, null, 'OK', [], [0], ['now', entry]])(
    'without a time is an error: %j',
    async (reply) => {
      await expect(read(reply)).rejects.toMatchObject({
        code: 'bad_reply',
        message: 'Redis returned an unexpected reply',
        isLost: false,
      })
    },
  )

  it.each([
    ['text', ['1000', entry, null]],
    ['bytes', [Buffer.from('1000'), new TextEncoder().encode(entry), undefined]],
  ])('may consist of %s', async (_kind, reply) => {
    expect(await read(reply)).toMatchObject({ id: 'an-id', remainingMs: 2_000 })
  })

  it('is reported if an entry is neither text nor bytes', async () => {
    const events: unknown[] = []
    expect(await read([1_000, 5, null], (event) => events.push(event))).toBeUndefined()
    expect(events).toEqual([
      {
        type: 'entry_unreadable',
        redisKey: expect.stringMatching(/^tokenwell:[\w-]{43}$/) as string,
        field: 'token',
      },
    ])
  })
})
