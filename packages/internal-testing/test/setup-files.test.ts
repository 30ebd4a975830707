import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, it } from 'vitest'
import { startVitest } from 'vitest/node'

const folder = mkdtempSync(join(tmpdir(), 'setup-files-'))
afterAll(() => rmSync(folder, { recursive: true }))

it.each([
  ['passes a test that writes and changes nothing', '', false],
  ['fails a test that logs', "console.log('hello')", true],
  [
    'fails a test that causes a warning of Node',
    "process.emitWarning('careful'); await new Promise(setImmediate)",
    true,
  ],
  [
    'fails a file that leaves a global changed',
    "Object.defineProperty(globalThis, 'Blob', { value: class {} })",
    true,
  ],
])('%s', async (_title, body, fails) => {
  writeFileSync(
    join(folder, 'it.test.mjs'),
    `import { it } from 'vitest'\nit('works', async () => { ${body} })`,
  )
  const vitest = await startVitest('test', [], {
    root: folder,
    watch: false,
    reporters: [{}],
    // Keeps Node from printing the warning.
    execArgv: ['--no-warnings'],
    setupFiles: ['fail-on-console', 'fail-on-globals'].map((name) =>
      fileURLToPath(new URL(`../src/${name}.ts`, import.meta.url)),
    ),
  })
  expect(vitest.state.getFiles().map((file) => file.result?.state)).toEqual([fails ? 'fail' : 'pass'])
  await vitest.close()
})
