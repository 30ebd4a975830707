import { describe, expect, it } from 'vitest'
import { pass, useFakeTime, watch } from '../../support/fake-time.ts'
import { startWith, storeWith } from './unavailable-store.ts'

useFakeTime()

describe('a store that returns invalid entries', () => {
  const response = { accessToken: 'stored', tokenType: 'Bearer', expiresIn: 3_600, scope: [] }
  const stored = { id: 'id', response, remainingMs: 3_000_000 }
  it.each<[unknown]>([
    [null],
    [0],
    ['text'],
    [[]],
    [{}],
    [{ id: 'id' }],
    [{ ...stored, response: null }],
    [{ ...stored, response: 'token' }],
    [{ ...stored, response: {} }],
    [{ ...stored, response: { ...response, accessToken: '' } }],
    [{ ...stored, response: { ...response, accessToken: 'a\r\nX-Evil: 1' } }],
    [{ ...stored, remainingMs: Number.NaN }],
    [{ ...stored, remainingMs: -1 }],
    [{ ...stored, remainingMs: '3000000' }],
    [{ cooldownMs: 1_000 }],
    [{ cooldownMs: 1_000, error: null }],
    [{ cooldownMs: 1_000, error: 'denied' }],
    [{ cooldownMs: 'long', error: { kind: 'credentials', message: 'invalid' } }],
    [{ cooldownMs: '1000', error: { kind: 'credentials', message: 'invalid' } }],
    [{ cooldownMs: 1_000, error: { kind: 'aborted', message: 'closed' } }],
    [{ cooldownMs: 1_000, error: { kind: 'of another version', message: 'new' } }],
    [{ cooldownMs: 1_000, error: { kind: 'toString', message: 'new' } }],
    [{ cooldownMs: 1_000, error: { message: 'of no kind' } }],
    [{ cooldownMs: -1, error: { kind: 'credentials', message: 'expired' } }],
  ])('such as %j from a read are ignored', async (entry) => {
    const { tokens } = startWith(storeWith({ read: () => Promise.resolve(entry as never) }))
    const call = watch(tokens.getToken())
    await pass(250)
    expect(call.value?.value).toBe('token-1')
  })

  it('never extends the lifetime of a token', async () => {
    const entry = { ...stored, remainingMs: 1e15 }
    const { tokens } = startWith(storeWith({ read: () => Promise.resolve(entry as never) }))
    const token = await tokens.getToken()
    expect(token.value).toBe('stored')
    expect(token.expiresAt.getTime() - Date.now()).toBeLessThanOrEqual(3_600_000)
  })

  it.each([['text'], [{}], [[]], [{ release: 1 }], [true]])(
    'such as %j from a lease are ignored, and an event is emitted',
    async (entry) => {
      const { events, tokens } = startWith(storeWith({ lease: () => Promise.resolve(entry as never) }))
      const call = watch(tokens.getToken())
      await pass(500)
      expect(call.value?.value).toBe('token-1')
      expect(events).toContainEqual({
        type: 'store_unavailable',
        operation: 'lease',
        cause: 'invalid_lease',
      })
    },
  )

  it.each([[undefined], [null], [42], [{}]])('such as %j from a write are ignored', async (entry) => {
    const { tokens } = startWith(storeWith({ write: () => Promise.resolve(entry as never) }))
    const token = await tokens.getToken()
    tokens.reject(token)
    await expect(tokens.getToken()).resolves.toMatchObject({ value: 'token-2' })
  })
})
