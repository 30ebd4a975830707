import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'

// Loaded in front of each test file: writes which mutants the file reaches, and which are reached by loading modules.
interface State {
  currentTestId?: string | undefined
  mutantCoverage?: { static: object; perTest: Record<string, object> }
}
const state = ((globalThis as { __stryker__?: State }).__stryker__ ??= {})
const folder = process.env['MUTATION_COVERAGE']

if (folder !== undefined) {
  state.currentTestId = undefined
  const file = expect.getState().testPath ?? ''
  beforeAll(() => void (state.currentTestId = file))
  afterAll(() => {
    const { static: loaded = {}, perTest = {} } = state.mutantCoverage ?? {}
    const reached = { file, loaded: Object.keys(loaded), reached: Object.keys(perTest[file] ?? {}) }
    writeFileSync(join(folder, `${crypto.randomUUID()}.json`), JSON.stringify(reached))
  })
}
