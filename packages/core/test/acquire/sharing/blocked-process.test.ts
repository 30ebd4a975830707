import { setTimeout } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createMemoryTokenStore } from '@tokenwell/core'
import { startWith } from './unavailable-store.ts'

it('does not blame the store for the time during which this process was blocked', async () => {
  const memory = createMemoryTokenStore()
  const { events, tokens } = startWith({
    ...memory,
    async read(key) {
      await setTimeout(100)
      return memory.read(key)
    },
  })
  const call = tokens.getToken()
  await setTimeout(50)
  const until = performance.now() + 400
  while (performance.now() < until);
  await call
  expect(events.map(({ type }) => type)).not.toContain('store_unavailable')
})
