import { afterAll, afterEach, beforeEach } from 'vitest'

// For `setupFiles`: a test that writes to the console, or that causes a warning of Node, fails.
const methods = ['debug', 'info', 'log', 'warn', 'error'] as const
const original = Object.fromEntries(methods.map((method) => [method, console[method]]))
let output: string[] = []

const onWarning = ({ name, message }: Error): void => {
  if (name !== 'ExperimentalWarning') output.push(`${name}: ${message}`)
}
process.on('warning', onWarning)
// Test files share their process, and each loads this module again.
afterAll(() => void process.off('warning', onWarning))

beforeEach(() => {
  output = []
  for (const method of methods) {
    console[method] = (...parts: unknown[]) => {
      output.push(`console.${method}: ${parts.map(String).join(' ')}`)
      original[method]?.apply(console, parts)
    }
  }
})

afterEach(() => {
  Object.assign(console, original)
  if (output.length > 0) throw new Error(`This test wrote to the console. ${output.join('; ').slice(0, 500)}`)
})
