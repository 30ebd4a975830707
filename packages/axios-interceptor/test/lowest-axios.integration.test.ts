import { afterAll, describe, expect, it, vi } from 'vitest'

vi.mock('axios', () => vi.importActual('axios-lowest'))
// Test files share the modules of their process: this one needs its own copy of those that import axios, and the next
// files must not get it.
vi.resetModules()
afterAll(() => void vi.resetModules())

describe('axios 1.7', async () => {
  await import('./attach-tokens.integration.test.ts')
  await import('./redirects.integration.test.ts')
})

it('runs these tests with axios 1.7.0', async () => {
  const { VERSION } = (await import('axios')).default
  expect(VERSION).toBe('1.7.0')
})
