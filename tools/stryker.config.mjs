// `pnpm mutate FILE[:LINE-LINE] [FILE…]`: StrykerJS changes these files in one place at a time, in a copy of the project,
// and runs the tests of their package, or those of the variable TESTS. Its runner for Vitest would be faster, but switches
// a change on in Vitest's own processes only: many tests here start others.
const mutated = process.argv.find((argument) => /^(?:packages|apps)\/[\w-]+\/src\//.test(argument)) ?? ''
const tests = process.env.TESTS ?? /^(?:packages|apps)\/[\w-]+\//.exec(mutated)?.[0]

/** @type {import('@stryker-mutator/api/core').PartialStrykerOptions} */
export default {
  testRunner: 'command',
  commandRunner: { command: `node_modules/.bin/vitest run --bail 1 ${tests}` },
  concurrency: 1,
  // A changed loop may never end.
  timeoutFactor: 3,
  reporters: ['clear-text'],
  ignorePatterns: ['docs', 'tools/*', '!tools/design', '.turbo'],
  // Type checks of changed files are off, and TypeScript 7 has no API for them.
  disableTypeChecks: true,
  tsconfigFile: 'none',
}
