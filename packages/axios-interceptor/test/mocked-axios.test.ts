import { expect, it, vi } from 'vitest'
import { attachTokens } from '@tokenwell/axios-interceptor'

vi.mock('axios', () => ({ default: { create: () => ({}) } }))

it('loads while a test mocks axios without its classes and its version', () => {
  expect(attachTokens).toBeTypeOf('function')
})
