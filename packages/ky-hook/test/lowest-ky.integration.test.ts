import type * as Ky from 'ky'
import { afterAll, describe, expect, it, vi } from 'vitest'

vi.mock('ky', () => vi.importActual('ky-lowest'))
// Test files share the modules of their process: this one needs its own copy of those that import ky, and the next files
// must not get it.
vi.resetModules()
afterAll(() => void vi.resetModules())

describe('ky 2.0.0', async () => {
  await import('./token-hooks.integration.test.ts')
  await import('./ky.integration.test.ts')
})

it('runs these tests with ky 2.0.0', async () => {
  const [{ default: mocked }, { default: lowest }] = await Promise.all([
    import('ky'),
    vi.importActual<typeof Ky>('ky-lowest'),
  ])
  expect(mocked).toBe(lowest)
})
