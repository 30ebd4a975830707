import { createMemoryTokenStore } from '@tokenwell/core'
import { describeTokenStore } from '@tokenwell/internal-testing/vitest'
import { afterAll, beforeAll, vi } from 'vitest'

beforeAll(() => void vi.useFakeTimers({ toFake: ['Date', 'performance'] }))
afterAll(() => void vi.useRealTimers())

describeTokenStore('the memory store', createMemoryTokenStore, {
  passTime: (ms) => void vi.advanceTimersByTime(ms),
})
