import { describe, expect, it, vi } from 'vitest'

vi.mock('axios', () => vi.importActual('axios-lowest'))

describe('axios 1.7', async () => {
  await import('./attach-tokens.integration.test.ts')
})

it('runs these tests with axios 1.7.0', async () => {
  const { VERSION } = (await import('axios')).default
  expect(VERSION).toBe('1.7.0')
})
