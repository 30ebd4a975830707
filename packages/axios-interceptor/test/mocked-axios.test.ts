import { expect, it, vi } from 'vitest'
import { attachTokens } from '@tokenwell/axios-interceptor'
import { createTestTokenProvider } from '@tokenwell/core/testing'

vi.mock('axios', () => ({ default: { create: () => ({}) } }))

it('loads while a test mocks axios without its classes and its version', () => {
  expect(attachTokens).toBeTypeOf('function')
})

it('says so if a test mocks the instance', () => {
  for (const instance of [undefined, {}])
    expect(() => attachTokens(instance as never, createTestTokenProvider())).toThrow(
      expect.objectContaining({
        kind: 'configuration',
        message: expect.stringMatching(/is not an axios instance.*If a test mocks axios, mock the requests/),
      }) as Error,
    )
})
