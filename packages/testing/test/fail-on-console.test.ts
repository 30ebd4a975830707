import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, it } from 'vitest'
import { startVitest } from 'vitest/node'

const folder = mkdtempSync(join(tmpdir(), 'silent-'))
afterAll(() => rmSync(folder, { recursive: true }))

it.each([
  ['says nothing', '', false],
  ['logs', "console.log('hello')", true],
  ['is warned by Node', "process.emitWarning('careful'); await new Promise(setImmediate)", true],
])('lets a test pass that is silent, and no other: one that %s', async (_name, body, fails) => {
  writeFileSync(
    join(folder, 'it.test.mjs'),
    `import { it } from 'vitest'\nit('works', async () => { ${body} })`,
  )
  const vitest = await startVitest('test', [], {
    root: folder,
    watch: false,
    reporters: [{}],
    // Node's own print of a warning.
    execArgv: ['--no-warnings'],
    setupFiles: [fileURLToPath(new URL('../src/fail-on-console.ts', import.meta.url))],
  })
  expect(vitest.state.getCountOfFailedTests() > 0).toBe(fails)
  await vitest.close()
})
