import { createTokenFetch } from '@tokenwell/core'
import { createTestTokenProvider } from '@tokenwell/core/testing'
import { expect, it } from 'vitest'

it('returns the given token', async () => {
  await using tokens = createTestTokenProvider({ value: 'abc' })
  expect((await tokens.getToken()).value).toBe('abc')
  expect(tokens.peekToken()?.value).toBe('abc')
})

it('returns a token without options, and again after a rejection', async () => {
  await using tokens = createTestTokenProvider()
  const token = await tokens.getToken()
  expect(token).toMatchObject({ value: 'test-token', tokenType: 'Bearer' })
  expect(token.expiresAt.getTime()).toBeGreaterThan(Date.now())
  tokens.reject(token)
  expect((await tokens.getToken()).value).toBe('test-token')
})

it('serves an adapter', async () => {
  const sent: (string | null)[] = []
  const fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    sent.push(new Request(input, init).headers.get('authorization'))
    return new Response()
  }
  await using tokens = createTestTokenProvider({ value: 'abc' })
  await createTokenFetch(tokens, { allowedOrigins: ['https://api.example.com'], fetch })(
    'https://api.example.com/orders',
  )
  expect(sent).toEqual(['Bearer abc'])
})
