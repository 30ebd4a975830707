import { afterEach, beforeEach } from 'vitest'

// For `setupFiles`: a test that writes to the console, or that Node warns about, fails.
const methods = ['debug', 'info', 'log', 'warn', 'error'] as const
const original = Object.fromEntries(methods.map((method) => [method, console[method]]))
let said: string[] = []

process.on('warning', ({ name, message }) => {
  if (name !== 'ExperimentalWarning') said.push(`${name}: ${message}`)
})

beforeEach(() => {
  said = []
  for (const method of methods) {
    console[method] = (...parts: unknown[]) => {
      said.push(`console.${method}: ${parts.map(String).join(' ')}`)
      original[method]?.apply(console, parts)
    }
  }
})

afterEach(() => {
  Object.assign(console, original)
  if (said.length > 0) throw new Error(`This test was not silent. ${said.join('; ').slice(0, 500)}`)
})
