import childProcess from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect } from 'vitest'

// Loaded in front of each test file: writes which mutants the file reaches, which are reached by loading modules, and
// whether the file starts processes, which may reach others.
interface State {
  currentTestId?: string | undefined
  mutantCoverage?: { static: object; perTest: Record<string, object> }
}
const state = ((globalThis as { __stryker__?: State }).__stryker__ ??= {})
const folder = process.env['MUTATION_COVERAGE']
let startsProcesses = false

type Start = ((...args: unknown[]) => unknown) & { [promisify.custom]?: Start }

function recordCalls(start: Start): Start {
  const startAndRecord: Start = (...args) => {
    startsProcesses = true
    return start(...args)
  }
  const promisified = start[promisify.custom]
  return Object.assign(startAndRecord, promisified && { [promisify.custom]: recordCalls(promisified) })
}

if (folder !== undefined) {
  state.currentTestId = undefined
  const file = expect.getState().testPath ?? ''
  for (const name of ['spawn', 'fork', 'exec', 'execFile', 'spawnSync', 'execSync', 'execFileSync'] as const)
    Object.assign(childProcess, { [name]: recordCalls(childProcess[name] as Start) })
  syncBuiltinESMExports()
  beforeAll(() => void (state.currentTestId = file))
  afterAll(() => {
    const { static: loaded = {}, perTest = {} } = state.mutantCoverage ?? {}
    const reached = Object.keys(perTest[file] ?? {})
    const coverage = { file, loaded: Object.keys(loaded), reached, startsProcesses }
    writeFileSync(join(folder, `${crypto.randomUUID()}.json`), JSON.stringify(coverage))
  })
}
