import { createTokenFetch } from '@tokenwell/core'
import { json, startProtectedApi } from '@tokenwell/testing'
import { createTestTokenProvider } from '@tokenwell/testing/token-provider'
import { expect, it, onTestFinished } from 'vitest'

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
  const api = await startProtectedApi()
  onTestFinished(() => api.close())
  api.respond = ({ headers }) => json(headers.authorization)
  await using tokens = createTestTokenProvider({ value: 'abc' })
  const response = await createTokenFetch(tokens, { allowedOrigins: [api.origin] })(api.origin)
  expect(await response.json()).toBe('Bearer abc')
})
