import { describe, expect, it, vi } from 'vitest'
import {
  createMemoryTokenStore,
  createTokenProvider,
  type TokenEvent,
  type TokenStore,
} from '@tokenwell/core'
import { pass, useFakeTime, watch } from '../support/fake-time.ts'
import { ScriptedEndpoint } from '../support/scripted-endpoint.ts'
import { keyedSource, forever, startWith, storeWith } from './sharing-providers.ts'

useFakeTime()

function pair(store: TokenStore = createMemoryTokenStore()) {
  const endpoint = new ScriptedEndpoint()
  const provider = () => createTokenProvider(keyedSource(endpoint), { store })
  return { endpoint, store, first: provider(), second: provider() }
}

describe('a token rejected by an API', () => {
  it('is removed from the store', async () => {
    const { store, first } = pair()
    first.reject(await first.getToken())
    await pass(0)
    expect(await store.read('key')).toBeUndefined()
  })

  it('is not removed from the store while it is still being written', async () => {
    const remove = vi.fn(() => Promise.resolve())
    const { tokens } = startWith(storeWith({ write: forever, remove }))
    tokens.reject(await tokens.getToken())
    await pass(100)
    expect(remove).not.toHaveBeenCalled()
  })

  it('is not accepted again from a stale store', async () => {
    const store = createMemoryTokenStore()
    const { endpoint, first } = pair({ ...store, remove: () => Promise.resolve() })
    first.reject(await first.getToken())
    expect((await first.getToken()).value).toBe('token-2')
    expect(endpoint.requests).toHaveLength(2)
  })

  it('is not stored again by a late write', async () => {
    const memory = createMemoryTokenStore()
    const store: TokenStore = {
      ...memory,
      lease: async (key, ttlMs) => {
        const lease = await memory.lease(key, ttlMs)
        const write: NonNullable<typeof lease>['write'] = async (...of) => {
          await lease!.write(...of)
          return new Promise(() => {})
        }
        return lease && { ...lease, write }
      },
    }
    const { first } = pair(store)
    const call = watch(first.getToken())
    await pass(250)
    await pass(60_000)
    first.reject(call.value!)
    const next = watch(first.getToken())
    await pass(6_000)
    expect(next.value?.value).toBe('token-2')
  })

  it('causes one request if two processes reject it', async () => {
    const { endpoint, first, second } = pair()
    const [one, two] = [await first.getToken(), await second.getToken()]
    first.reject(one)
    expect((await first.getToken()).value).toBe('token-2')
    second.reject(two)
    expect((await second.getToken()).value).toBe('token-2')
    first.reject(one)
    await pass(0)
    expect((await first.getToken()).value).toBe('token-2')
    expect(endpoint.requests).toHaveLength(2)
  })

  it('is remembered until a hundred others have been rejected', async () => {
    let stale: Awaited<ReturnType<TokenStore['read']>>
    const store: TokenStore = {
      ...createMemoryTokenStore(),
      read: () => Promise.resolve(stale),
      remove: () => Promise.resolve(),
    }
    const { first } = pair(store)
    const reject = async (times: number) => {
      for (let count = 0; count < times; count++) {
        first.reject(await first.getToken({ forceRefresh: true }))
        await pass(5_000)
      }
    }
    await reject(1)
    const response = { accessToken: 'token-1', tokenType: 'Bearer', expiresIn: 3_600, scope: [] } as const
    stale = { id: 'stale', response, remainingMs: 3_000_000 }
    await reject(99)
    expect((await first.getToken()).value).toBe('token-101')
    await reject(1)
    expect((await first.getToken()).value).toBe('token-1')
  })

  it('can be rejected late without removing its replacement', async () => {
    const { store, first, second } = pair()
    const token = await second.getToken()
    await first.getToken({ forceRefresh: true })
    second.reject(token)
    await pass(0)
    expect(await store.read('key')).toMatchObject({ response: { accessToken: 'token-2' } })
    expect((await second.getToken()).value).toBe('token-2')
  })

  it('fails no caller if the store cannot remove it, which is reported', async () => {
    const events: TokenEvent[] = []
    const { first } = pair({
      ...createMemoryTokenStore(),
      remove: () => {
        throw new Error('thrown, not rejected')
      },
    })
    first.subscribe((event) => events.push(event))
    first.reject(await first.getToken())
    const next = watch(first.getToken())
    await pass(500)
    expect(next.value?.value).toBe('token-2')
    expect(events).toContainEqual({ type: 'store_unavailable', operation: 'remove', cause: 'Error' })
  })
})
