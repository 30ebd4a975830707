import { describe, expect, it, vi } from 'vitest'
import { createTokenPool } from '@tokenwell/core'
import { pass, useFakeTime, watch } from './fake-time.ts'
import { never, ScriptedEndpoint, sourceOf, wrongSecret, type Script } from './scripted-endpoint.ts'

useFakeTime()

function start(script: Script = {}, maxEntries?: number) {
  const endpoint = new ScriptedEndpoint(script)
  const create = vi.fn((tenant: string) => sourceOf(endpoint, { clientId: tenant }))
  return { create, endpoint, pool: createTokenPool(create, { maxEntries }) }
}

const closed = { name: 'TokenError', kind: 'aborted' }

describe('a pool', () => {
  it('makes one provider for each key, when it is first asked for', async () => {
    const { create, endpoint, pool } = start()
    const [first, second] = [pool.for('a'), pool.for('b')]
    expect(pool.for('a')).toBe(first)
    expect(first).not.toBe(second)
    await Promise.all([first.getToken(), pool.for('a').getToken(), second.getToken()])
    expect(create.mock.calls).toEqual([['a'], ['b']])
    expect(endpoint.requests.map(({ form }) => form.get('client_id'))).toEqual(['a', 'b'])
    expect(pool.size).toBe(2)
  })

  it('keeps numbers and texts apart', () => {
    const endpoint = new ScriptedEndpoint()
    const pool = createTokenPool((_key: string | number) => sourceOf(endpoint))
    expect(pool.for(1)).not.toBe(pool.for('1'))
    expect(pool.for('__proto__')).toBe(pool.for('__proto__'))
    expect(pool.for('constructor')).not.toBe(pool.for('__proto__'))
  })

  it('keeps nothing where a source could not be made', () => {
    let fail = true
    const pool = createTokenPool((_key: string) => {
      if (fail) throw new Error('no such tenant')
      return sourceOf(new ScriptedEndpoint())
    })
    expect(() => pool.for('a')).toThrow('no such tenant')
    expect(pool.size).toBe(0)
    fail = false
    expect(pool.for('a')).toBeDefined()
  })

  it('gives its options to every provider', async () => {
    const endpoint = new ScriptedEndpoint(wrongSecret)
    const events: string[] = []
    const pool = createTokenPool((_key: string) => sourceOf(endpoint), {
      maxAttempts: 1,
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
    expect(events).toEqual(['token_requested', 'token_failed', 'token_requested', 'token_failed'])
    expect(endpoint.requests).toHaveLength(2)
  })

  it.each([0, -1, Number.NaN, null as never])('holds no %j providers', (maxEntries) => {
    expect(() => start({}, maxEntries)).toThrow(
      expect.objectContaining({
        kind: 'configuration',
        message: expect.stringContaining('maxEntries') as string,
      }),
    )
  })
})

describe('a full pool', () => {
  it('forgets the least recently asked for', () => {
    const { create, pool } = start({}, 3)
    const [a, b, c] = [pool.for('a'), pool.for('b'), pool.for('c')]
    pool.for('a')
    pool.for('d')
    expect(pool.size).toBe(3)
    expect([pool.for('a'), pool.for('c')]).toEqual([a, c])
    expect(pool.for('b')).not.toBe(b)
    expect(create.mock.calls.flat()).toEqual(['a', 'b', 'c', 'd', 'b'])
  })

  it('of one forgets at each change', () => {
    const { pool } = start({}, 1)
    const first = pool.for('a')
    expect(pool.for('a')).toBe(first)
    expect(pool.for('b')).not.toBe(first)
    expect(pool.for('a')).not.toBe(first)
    expect(pool.size).toBe(1)
  })

  it('closes a forgotten provider after the last of its calls', async () => {
    const { endpoint, pool } = start({ latencyMs: 100 }, 1)
    const forgotten = pool.for('a')
    const calls = [watch(forgotten.getToken()), watch(forgotten.getToken())]
    await pass(50)
    pool.for('b')
    const late = watch(forgotten.getToken())
    await pass(50)
    expect([...calls, late].map(({ value }) => value?.value)).toEqual(['token-1', 'token-1', 'token-1'])
    await pass(0)
    await expect(forgotten.getToken()).rejects.toMatchObject(closed)
    expect(endpoint.requests).toHaveLength(1)
  })

  it('closes a forgotten provider that is idle at once', async () => {
    const { pool } = start({}, 1)
    const forgotten = pool.for('a')
    await forgotten.getToken()
    pool.for('b')
    await pass(0)
    await expect(forgotten.getToken()).rejects.toMatchObject(closed)
  })

  it('serves a forced call of a forgotten provider that waits for an older request', async () => {
    const { pool } = start({ latencyMs: 100 }, 1)
    const forgotten = pool.for('a')
    const plain = watch(forgotten.getToken())
    await pass(10)
    const forced = watch(forgotten.getToken({ forceRefresh: true }))
    pool.for('b')
    await pass(1_000)
    expect([plain.value?.value, forced.value?.value]).toEqual(['token-1', 'token-2'])
  })

  it('serves a call of a forgotten provider that asks for its secret', async () => {
    const endpoint = new ScriptedEndpoint((request) => (request === 1 ? wrongSecret : {}))
    let asked = 0
    const clientSecret = async (): Promise<string> => {
      if (++asked > 1) await new Promise((resolve) => setTimeout(resolve, 50))
      return `secret-${asked}`
    }
    const pool = createTokenPool((_key: string) => sourceOf(endpoint, { clientSecret }), { maxEntries: 1 })
    const forgotten = pool.for('a')
    await forgotten.getToken().catch(() => {})
    const healed = watch(forgotten.getToken())
    await pass(1)
    pool.for('b')
    await pass(1_000)
    expect(healed.state).toBe('resolved')
  })

  it('closes a forgotten provider whose calls were all aborted', async () => {
    const { endpoint, pool } = start(never, 1)
    const forgotten = pool.for('a')
    const controller = new AbortController()
    watch(forgotten.getToken({ signal: controller.signal }))
    await pass(1)
    pool.for('b')
    controller.abort()
    await pass(1)
    await expect(forgotten.getToken()).rejects.toMatchObject(closed)
    expect(endpoint.cancelled).toBe(1)
  })

  it('keeps to its size however many keys there are', async () => {
    const { pool } = start({}, 1_000)
    for (let key = 0; key < 100_000; key++) pool.for(String(key))
    expect(pool.size).toBe(1_000)
    await pass(0)
    await expect(pool.for('0').getToken()).resolves.toBeDefined()
  })
})

describe('closing a pool', () => {
  it('closes all its providers, forgotten ones with calls under way as well', async () => {
    const { endpoint, pool } = start(never, 1)
    const calls = [watch(pool.for('a').getToken()), watch(pool.for('b').getToken())]
    await pass(1)
    await pool.close()
    await pass(0)
    for (const { error } of calls) expect(error).toMatchObject(closed)
    expect(endpoint.inFlight).toBe(0)
    expect(() => pool.for('a')).toThrow(expect.objectContaining({ name: 'TokenError' }))
  })

  it('can be done twice, and by `await using`', async () => {
    const { pool } = start()
    const tokens = pool.for('a')
    await pool[Symbol.asyncDispose]()
    await pool.close()
    await expect(tokens.getToken()).rejects.toMatchObject(closed)
  })
})
