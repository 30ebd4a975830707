import { describe, expect, it, vi } from 'vitest'
import { createMemoryTokenStore, createTokenPool } from '@tokenwell/core'
import { createTokenAttacher } from '@tokenwell/core/adapter'
import { createTestTokenProvider } from '@tokenwell/core/testing'
import { get, sendThrough } from '../attach/send-through.ts'
import { collectGarbage } from '../support/collect-garbage.ts'
import { pass, useFakeTime, watch } from '../support/fake-time.ts'
import { never, ScriptedEndpoint, tokensOf, wrongSecret, type Script } from '../support/scripted-endpoint.ts'

useFakeTime()

function start(script: Script = {}, maxEntries?: number) {
  const endpoint = new ScriptedEndpoint(script)
  const create = vi.fn((tenant: string) => tokensOf(endpoint, { clientId: tenant }))
  return { create, endpoint, pool: createTokenPool(create, { maxEntries }) }
}

const closed = { name: 'TokenError', kind: 'aborted' }

describe('a pool', () => {
  it('creates one provider for each key on first use', async () => {
    const { create, endpoint, pool } = start()
    const [first, second] = [pool.for('a'), pool.for('b')]
    expect(pool.for('a')).toBe(first)
    expect(first).not.toBe(second)
    await Promise.all([first.getToken(), pool.for('a').getToken(), second.getToken()])
    expect(create.mock.calls).toEqual([['a'], ['b']])
    expect(endpoint.requests.map(({ form }) => form.get('client_id'))).toEqual(['a', 'b'])
    expect(pool.size).toBe(2)
  })

  it('distinguishes numbers from strings', () => {
    const endpoint = new ScriptedEndpoint()
    const pool = createTokenPool((_key: string | number) => tokensOf(endpoint))
    expect(pool.for(1)).not.toBe(pool.for('1'))
    expect(pool.for('__proto__')).toBe(pool.for('__proto__'))
    expect(pool.for('constructor')).not.toBe(pool.for('__proto__'))
  })

  it('passes an error from create to the caller unchanged, and tries again at the next call', async () => {
    let fail = true
    const pool = createTokenPool((_key: string) => {
      if (fail) throw new Error('no such tenant')
      return tokensOf(new ScriptedEndpoint())
    })
    const tokens = pool.for('a')
    await expect(tokens.getToken()).rejects.toThrow('no such tenant')
    expect(pool.size).toBe(0)
    fail = false
    await expect(tokens.getToken()).resolves.toBeDefined()
    expect(pool.size).toBe(1)
  })

  it('passes on the events of all providers', async () => {
    const endpoint = new ScriptedEndpoint(wrongSecret)
    const events: string[] = []
    const pool = createTokenPool((_key: string) => tokensOf(endpoint, { maxAttempts: 1 }), {
      onEvent: ({ type }) => events.push(type),
    })
    await pool
      .for('a')
      .getToken()
      .catch(() => {})
    await pool
      .for('b')
      .getToken()
      .catch(() => {})
    expect(events).toEqual([
      'token_requested',
      'token_failed',
      'call_settled',
      'token_requested',
      'token_failed',
      'call_settled',
    ])
    expect(endpoint.requests).toHaveLength(2)
  })

  it('names an option that belongs to its providers', () => {
    const options = { store: createMemoryTokenStore() } as object
    expect(() => createTokenPool((_key: string) => tokensOf(new ScriptedEndpoint()), options)).toThrow(
      'store is not an option of a pool. Set it for each provider in create.',
    )
  })

  it('closes a provider of any other kind when its key is evicted, after its calls', async () => {
    const close = vi.fn(async () => {})
    const pool = createTokenPool((_key: string) => Object.assign(createTestTokenProvider(), { close }), {
      maxEntries: 1,
    })
    await pool.for('a').getToken()
    pool.for('b')
    await pass(0)
    expect(close.mock.calls).toEqual([[{ whenIdle: true }]])
  })

  it.each([0, -1, Number.NaN, null as never])('rejects the size %j', (maxEntries) => {
    expect(() => start({}, maxEntries)).toThrow(
      expect.objectContaining({
        kind: 'configuration',
        message: expect.stringContaining('maxEntries') as string,
      }),
    )
  })
})

describe('a full pool', () => {
  it('evicts the least recently used key', async () => {
    const { create, pool } = start({}, 3)
    for (const key of ['a', 'b', 'c', 'a']) await pool.for(key).getToken()
    await pool.for('d').getToken()
    expect(pool.size).toBe(3)
    expect(['a', 'b', 'c', 'd'].map((key) => pool.has(key))).toEqual([true, false, true, true])
    expect(create.mock.calls.flat()).toEqual(['a', 'b', 'c', 'd'])
  })

  it('counts a look-up as a use of the key', () => {
    const { pool } = start({}, 2)
    for (const key of ['a', 'b', 'a', 'c']) pool.for(key)
    expect(['a', 'b', 'c'].map((key) => pool.has(key))).toEqual([true, false, true])
  })

  it('evicts the other keys in the order of their use', () => {
    const { pool } = start({}, 3)
    for (const key of ['a', 'b', 'c', 'b', 'd']) pool.for(key)
    expect(['a', 'b', 'c', 'd'].map((key) => pool.has(key))).toEqual([false, true, true, true])
    pool.for('e')
    expect(['b', 'c', 'd', 'e'].map((key) => pool.has(key))).toEqual([true, false, true, true])
  })

  it('keeps the newest key, even if all others have been used since', async () => {
    const { pool } = start({}, 1)
    const tokens = pool.for('a')
    for (let call = 0; call < 2; call += 1) await tokens.getToken()
    pool.for('b')
    expect([pool.has('a'), pool.has('b')]).toEqual([false, true])
  })

  it('counts the use of a provider that was kept as a use of its key', async () => {
    const { endpoint, pool } = start({}, 2)
    const kept = pool.for('kept')
    for (let tenant = 0; tenant < 10; tenant++) {
      await kept.getToken()
      await pool.for(String(tenant)).getToken()
    }
    expect(endpoint.requests.filter(({ form }) => form.get('client_id') === 'kept')).toHaveLength(1)
  })

  it('creates a provider again for an evicted key', async () => {
    const { endpoint, pool } = start({}, 1)
    const evicted = pool.for('a')
    expect((await evicted.getToken()).value).toBe('token-1')
    pool.for('b')
    expect(evicted.peekToken()).toBeUndefined()
    expect((await evicted.getToken()).value).toBe('token-2')
    expect(pool.has('a')).toBe(true)
    expect((await pool.for('a').getToken()).value).toBe('token-2')
    expect(endpoint.requests).toHaveLength(2)
  })

  it('shares one provider between the handles of a key that was evicted and created again', async () => {
    const { endpoint, pool } = start({ latencyMs: 100 }, 1)
    const old = pool.for('a')
    pool.for('b')
    const calls = [watch(pool.for('a').getToken()), watch(old.getToken()), watch(old.getToken())]
    await pass(100)
    expect(calls.map(({ value }) => value?.value)).toEqual(['token-1', 'token-1', 'token-1'])
    expect(endpoint.requests).toHaveLength(1)
  })

  it('completes the calls of an evicted provider', async () => {
    const { endpoint, pool } = start({ latencyMs: 100 }, 1)
    const evicted = pool.for('a')
    const calls = [watch(evicted.getToken()), watch(evicted.getToken())]
    await pass(50)
    pool.for('b')
    await pass(50)
    expect(calls.map(({ value }) => value?.value)).toEqual(['token-1', 'token-1'])
    expect(endpoint.requests).toHaveLength(1)
  })

  it('cancels the background request of an evicted provider once its calls have ended', async () => {
    const { endpoint, pool } = start((request) => ({ latencyMs: request === 1 ? 0 : Infinity }), 1)
    const evicted = pool.for('a')
    await evicted.getToken()
    await pass(3_560_000)
    // Starts a refresh.
    await evicted.getToken()
    const controller = new AbortController()
    const call = watch(evicted.getToken({ minimumValidityMs: 600_000, signal: controller.signal }))
    pool.for('b')
    await pass(10)
    expect([call.state, endpoint.inFlight]).toEqual(['pending', 1])
    controller.abort()
    await pass(0)
    expect([call.state, endpoint.cancelled]).toEqual(['rejected', 1])
  })

  it('completes a forced call of an evicted provider that waits for an older request', async () => {
    const { pool } = start({ latencyMs: 100 }, 1)
    const forgotten = pool.for('a')
    const plain = watch(forgotten.getToken())
    await pass(10)
    const forced = watch(forgotten.getToken({ forceRefresh: true }))
    pool.for('b')
    await pass(1_000)
    expect([plain.value?.value, forced.value?.value]).toEqual(['token-1', 'token-2'])
  })

  it('completes a call of an evicted provider that is waiting for its secret', async () => {
    const endpoint = new ScriptedEndpoint((request) => (request === 1 ? wrongSecret : {}))
    let calls = 0
    const clientSecret = async (): Promise<string> => {
      if (++calls > 1) await new Promise((resolve) => setTimeout(resolve, 50))
      return `secret-${calls}`
    }
    const pool = createTokenPool((_key: string) => tokensOf(endpoint, { clientSecret }), { maxEntries: 1 })
    const forgotten = pool.for('a')
    await forgotten.getToken().catch(() => {})
    const healed = watch(forgotten.getToken())
    await pass(1)
    pool.for('b')
    await pass(1_000)
    expect(healed.state).toBe('resolved')
  })

  it('forgets an evicted provider that has finished', async () => {
    const endpoint = new ScriptedEndpoint()
    const providers: WeakRef<object>[] = []
    const create = (tenant: string) => {
      const tokens = tokensOf(endpoint, { clientId: tenant })
      providers.push(new WeakRef(tokens))
      return tokens
    }
    const pool = createTokenPool(create, { maxEntries: 1 })
    for (const tenant of ['a', 'b']) await pool.for(tenant).getToken()
    vi.useRealTimers()
    await collectGarbage()
    expect(providers.map((tokens) => tokens.deref() !== undefined)).toEqual([false, true])
    await pool.close()
  })

  it('does not exceed its size for any number of keys', async () => {
    const { pool } = start({}, 1_000)
    for (let key = 0; key < 100_000; key++) pool.for(String(key))
    expect(pool.size).toBe(1_000)
    await pass(0)
    await expect(pool.for('0').getToken()).resolves.toBeDefined()
  })
})

describe('a provider that is created asynchronously', () => {
  it('is created once for callers that arrive together', async () => {
    const endpoint = new ScriptedEndpoint()
    const create = vi.fn(async (tenant: string) => {
      await new Promise((resolve) => setTimeout(resolve, 100))
      return tokensOf(endpoint, { clientId: tenant })
    })
    const pool = createTokenPool(create)
    const calls = [watch(pool.for('a').getToken()), watch(pool.for('a').getToken())]
    await pass(100)
    expect(calls.map(({ value }) => value?.value)).toEqual(['token-1', 'token-1'])
    expect(create).toHaveBeenCalledOnce()
  })

  it('fails its callers with its own error, and is created again at the next call', async () => {
    const error = new RangeError('no such tenant')
    const create = vi.fn(() => Promise.reject(error))
    const pool = createTokenPool(create)
    await expect(pool.for('a').getToken()).rejects.toBe(error)
    await expect(pool.for('a').getToken()).rejects.toBe(error)
    expect(create).toHaveBeenCalledTimes(2)
    expect(pool.size).toBe(0)
  })
})

describe('a key of a pool', () => {
  it('is in the events, for all listeners of the pool and for its own', async () => {
    const { pool } = start()
    const [all, own] = [vi.fn(), vi.fn()]
    pool.subscribe(all)
    pool.for('a').subscribe(own)
    await pool.for('a').getToken()
    await pool.for('b').getToken()
    expect(new Set(all.mock.calls.map(([event]) => event.key))).toEqual(new Set(['a', 'b']))
    expect(new Set(own.mock.calls.map(([event]) => event.key))).toEqual(new Set(['a']))
  })

  it('is in the log, before and after its first use', async () => {
    const tokens = start().pool.for('a')
    expect(JSON.parse(JSON.stringify(tokens))).toStrictEqual({ key: 'a' })
    await tokens.getToken()
    expect(JSON.parse(JSON.stringify(tokens))).toMatchObject({
      key: 'a',
      provider: { source: { clientId: 'a' }, token: { value: '[redacted]', tokenType: 'Bearer' } },
    })
  })

  it('keeps its other listeners when one is removed', async () => {
    const { pool } = start()
    const [removed, kept] = [vi.fn(), vi.fn()]
    const remove = pool.for('a').subscribe(removed)
    pool.for('a').subscribe(kept)
    remove()
    remove()
    await pool.for('a').getToken()
    expect(removed).not.toHaveBeenCalled()
    expect(kept).toHaveBeenCalled()
  })

  it('can be rejected and reset before and after its first use', async () => {
    const { pool } = start()
    const tokens = pool.for('a')
    tokens.reset()
    const first = await tokens.getToken()
    tokens.reject(first)
    expect((await tokens.getToken()).value).toBe('token-2')
    tokens.reset()
    expect((await tokens.getToken()).value).toBe('token-3')
  })

  it('attaches nothing to a request to another origin before its first use', async () => {
    const { pool } = start()
    const attacher = createTokenAttacher(pool.for('a'), { allowedOrigins: ['https://api.example.com'] })
    expect((await sendThrough(attacher, get('https://other.example.com'))).sent).toEqual([undefined])
  })

  it('is forgotten when it has been deleted and its listeners were removed', async () => {
    vi.useRealTimers()
    const { pool } = start()
    const listenOnce = () => {
      // An object, because its end can be observed.
      const key = {} as string & object
      const remove = pool.for(key).subscribe(() => {})
      remove()
      pool.delete(key)
      return new WeakRef(key)
    }
    const key = listenOnce()
    await collectGarbage()
    expect(key.deref()).toBeUndefined()
  })

  it('can be deleted: its next use creates it again', async () => {
    const { create, pool } = start()
    const tokens = pool.for('a')
    await tokens.getToken()
    expect(pool.delete('a')).toBe(true)
    expect(pool.delete('a')).toBe(false)
    expect(pool.has('a')).toBe(false)
    await tokens.getToken()
    expect(create).toHaveBeenCalledTimes(2)
  })
})

it('evicts in the order of use after the provider that was used last was closed', async () => {
  const { pool } = start({}, 2)
  for (const key of ['a', 'b', 'a']) await pool.for(key).getToken()
  await pool.for('a').close()
  for (const key of ['c', 'd', 'e']) await pool.for(key).getToken()
  expect(['a', 'b', 'c', 'd', 'e'].filter((key) => pool.has(key))).toEqual(['d', 'e'])
})

describe('closing a pool', () => {
  it('closes all its providers, evicted ones with pending calls included', async () => {
    const { endpoint, pool } = start(never, 1)
    const calls = [watch(pool.for('a').getToken()), watch(pool.for('b').getToken())]
    await pass(1)
    await pool.close()
    await pass(0)
    for (const { error } of calls) expect(error).toMatchObject(closed)
    expect(endpoint.inFlight).toBe(0)
    expect(() => pool.for('a')).toThrow('The token pool was closed.')
  })

  it('ends the calls of `create`', async () => {
    const { create, pool } = start()
    const tokens = pool.for('a')
    await pool.close()
    await expect(tokens.getToken()).rejects.toThrow('The token pool was closed.')
    expect(create).not.toHaveBeenCalled()
  })

  it('can be done twice, and with `await using`', async () => {
    const { pool } = start()
    const tokens = pool.for('a')
    await pool[Symbol.asyncDispose]()
    await pool.close()
    await expect(tokens.getToken()).rejects.toMatchObject(closed)
  })
})
