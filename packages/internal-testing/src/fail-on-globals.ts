import { afterAll } from 'vitest'

// For `setupFiles`: a test file that leaves a global changed fails, because the files after it share its process.
/** The value or the getter of each: some getters load much, or warn. */
const read = () =>
  new Map(
    Object.entries(Object.getOwnPropertyDescriptors(globalThis)).map(([name, descriptor]) => [
      name,
      Object.values(descriptor)[0] as unknown,
    ]),
  )
const before = read()

afterAll(() => {
  const changed = Array.from(read()).filter(
    ([name, value]) => before.has(name) && !Object.is(value, before.get(name)),
  )
  if (changed.length > 0)
    throw new Error(`This file leaves globals changed: ${changed.map(([name]) => name).join(', ')}.`)
})
