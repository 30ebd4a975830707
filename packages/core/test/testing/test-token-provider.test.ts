import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createTokenFetch, TokenError } from '@tokenwell/core'
import { createTestTokenProvider } from '@tokenwell/core/testing'

const unavailable = new TokenError({ kind: 'unavailable', message: 'The token endpoint is down.' })

describe('createTestTokenProvider', () => {
  it('returns a token without options, and another one after each rejection', async () => {
    await using tokens = createTestTokenProvider()
    const token = await tokens.getToken()
    expect(token).toMatchObject({ value: 'test-token', tokenType: 'Bearer' })
    expect(token.expiresAt.getTime()).toBeGreaterThan(Date.now())
    tokens.reject(token)
    const second = await tokens.getToken()
    expect(second.value).toBe('test-token-2')
    tokens.reject(second)
    expect((await tokens.getToken()).value).toBe('test-token-3')
    expect(tokens.requests).toBe(3)
    tokens.reset()
    expect((await tokens.getToken()).value).toBe('test-token')
  })

  it('returns the next token of the list after a rejection, and another one after the last', async () => {
    await using tokens = createTestTokenProvider({ tokens: ['first', 'second'] })
    const values = []
    for (let round = 0; round < 3; round++) {
      const token = await tokens.getToken()
      values.push(token.value)
      tokens.reject(token)
    }
    expect(values).toEqual(['first', 'second', 'second-2'])
  })

  it('returns the given tokens in order, and the last one again', async () => {
    await using tokens = createTestTokenProvider({ tokens: ['first', 'second'] })
    const values = []
    for (let round = 0; round < 3; round++) {
      values.push((await tokens.getToken()).value, (await tokens.getToken()).value)
      tokens.expire()
    }
    expect(values).toEqual(['first', 'first', 'second', 'second', 'second', 'second'])
    expect(tokens.requests).toBe(3)
  })

  it('expires its token', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'performance'] })
    onTestFinished(() => void vi.useRealTimers())
    await using tokens = createTestTokenProvider({ lifetimeMs: 60_000 })
    const token = await tokens.getToken()
    expect(token.expiresAt.getTime() - Date.now()).toBe(60_000)
    tokens.expire()
    expect(tokens.peekToken()).toBeUndefined()
    await tokens.getToken()
    expect(tokens.requests).toBe(2)
  })

  it.each(['credentials', 'configuration', 'throttled', 'unavailable', 'malformed', 'aborted'] as const)(
    'fails with an error of kind %s at once, each time, until the error is removed',
    async (kind) => {
      const error = new TokenError({ kind, message: 'No token.', status: 500, retryAfterMs: 60_000 })
      await using tokens = createTestTokenProvider({ error: Object.freeze(error) })
      for (const requests of [1, 2, 3]) {
        await expect(tokens.getToken()).rejects.toMatchObject({ kind, message: 'No token.', status: 500 })
        expect(tokens.requests).toBe(requests)
      }
      tokens.error = undefined
      expect((await tokens.getToken()).value).toBe('test-token')
    },
  )

  it('keeps a valid token while requests fail', async () => {
    await using tokens = createTestTokenProvider({ tokens: ['first', 'second'] })
    await tokens.getToken()
    tokens.error = unavailable
    expect((await tokens.getToken()).value).toBe('first')
    await expect(tokens.getToken({ forceRefresh: true })).rejects.toMatchObject({ kind: 'unavailable' })
    expect((await tokens.getToken()).value).toBe('first')
    tokens.expire()
    await expect(tokens.getToken()).rejects.toMatchObject({ kind: 'unavailable' })
  })

  it('starts again after a reset', async () => {
    const tokens = createTestTokenProvider({ tokens: ['first', 'second'], error: unavailable })
    tokens.error = undefined
    await tokens.getToken()
    tokens.expire()
    await tokens.getToken()
    tokens.reset()
    expect(tokens.requests).toBe(0)
    expect(tokens.peekToken()).toBeUndefined()
    await expect(tokens.getToken()).rejects.toMatchObject({ kind: 'unavailable' })
    tokens.error = undefined
    expect((await tokens.getToken()).value).toBe('second')
    await tokens.close()
    await expect(tokens.getToken()).rejects.toMatchObject({ kind: 'aborted' })
  })

  it('shares one request between concurrent callers', async () => {
    await using tokens = createTestTokenProvider()
    await Promise.all(Array.from({ length: 10 }, () => tokens.getToken()))
    expect(tokens.requests).toBe(1)
  })

  it.each([
    [undefined, ['Bearer test-token', 'Bearer test-token-2']],
    [
      ['old', 'new'],
      ['Bearer old', 'Bearer new'],
    ],
  ])('serves an adapter, also after a rejection: %j', async (values, expected) => {
    const sent: (string | null)[] = []
    const fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
      sent.push(new Request(input, init).headers.get('authorization'))
      return new Response(null, { status: sent.length === 1 ? 401 : 200 })
    }
    await using tokens = createTestTokenProvider({ tokens: values })
    const apiFetch = createTokenFetch(tokens, { allowedOrigins: ['https://api.example.com'], fetch })
    expect((await apiFetch('https://api.example.com/orders')).status).toBe(200)
    expect(sent).toEqual(expected)
  })
})
