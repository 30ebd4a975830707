import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'

it('the published declarations import no other package', { timeout: 60_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'core-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const compiler = fileURLToPath(new URL('../../../../node_modules/typescript/bin/tsc', import.meta.url))
  const project = fileURLToPath(new URL('../../tsconfig.build.json', import.meta.url))
  await promisify(execFile)(process.execPath, [compiler, '-p', project, '--outDir', folder])
  const files = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.d.ts'))
  expect(files.length).toBeGreaterThan(20)
  for (const name of files) {
    const declarations = await readFile(join(folder, name), 'utf8')
    for (const [, from] of declarations.matchAll(/(?:from|import)\s*\(?['"]([^'"]+)['"]/g)) {
      expect(from, name).toMatch(/^\.\.?\//)
    }
  }
})
