import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { BaseSequencer, createVitest } from 'vitest/node'
import type { TestRunResult, TestSpecification } from 'vitest/node'

// Runs tests in the copy, in one Vitest that stays warm: `mutate.ts` starts it, and sends what to run.

/** The test files that pass without a mutant. */
export interface TestFile {
  readonly file: string
  readonly milliseconds: number
  readonly longestTestMs: number
  /** IDs of the mutants that run while modules are loaded; every file that loads them may notice. */
  readonly loaded: readonly string[]
  readonly reached: readonly string[]
  readonly startsProcesses: boolean
}

export type Order =
  | { readonly coverage: string }
  | { readonly mutant: string; readonly testTimeout: number; readonly files: readonly string[] }
export type Reply =
  | { readonly passing: TestFile[]; readonly failing: string[] }
  /** Undefined if the tests do not end. */
  | { readonly killedBy: string | null | undefined }

class AsGiven extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return Promise.resolve(files)
  }
}

const [copy = '', filter = ''] = process.argv.slice(2)
process.chdir(copy)
// As `vitest` itself does.
process.env['NODE_ENV'] ??= 'test'
// No mutant is switched on in a page: tests in Chromium are skipped.
process.env['CHROMIUM_PATH'] = 'none'
let lastResultAt = 0
const nowhere = new PassThrough().resume()
const vitest = await createVitest(
  'test',
  {
    config: join(copy, 'vitest.config.ts'),
    watch: false,
    maxWorkers: 1,
    reporters: [{ onTestCaseResult: () => void (lastResultAt = performance.now()) }],
    onConsoleLog: () => false,
    sequence: { sequencer: AsGiven },
  },
  {},
  { stdout: nowhere as never, stderr: nowhere as never },
)
for (const { config } of vitest.projects)
  config.setupFiles.unshift(fileURLToPath(new URL('record-coverage.ts', import.meta.url)))
const specifications = new Map<string, TestSpecification>()
// Sources with mutants are not what is published, and a type check rejects them.
const needsOriginals = /\/test\/(package|runtimes)\/|\/readme\.(integration\.)?test\.ts$/
for (const specification of await vitest.globTestSpecifications([filter]))
  if (!needsOriginals.test(specification.moduleId)) specifications.set(specification.moduleId, specification)

async function findCoverage(folder: string): Promise<Reply> {
  process.env['MUTATION_COVERAGE'] = folder
  // Of the files that share a module, only the first one would reach what runs while the module is loaded.
  for (const config of [vitest.config, ...vitest.projects.map((project) => project.config)])
    Object.assign(config, { isolate: true })
  const { testModules } = await vitest.runTestSpecifications([...specifications.values()])
  delete process.env['MUTATION_COVERAGE']
  const coverage = new Map<string, Pick<TestFile, 'loaded' | 'reached' | 'startsProcesses'>>()
  for (const name of readdirSync(folder)) {
    const { file, ...reached } = JSON.parse(readFileSync(join(folder, name), 'utf8'))
    coverage.set(file, reached)
  }
  const passing: TestFile[] = []
  const failing: string[] = []
  for (const module of testModules) {
    const { loaded = [], reached = [], startsProcesses = false } = coverage.get(module.moduleId) ?? {}
    const { moduleId: file } = module
    const { duration: milliseconds } = module.diagnostic()
    const durations = [...module.children.allTests()].map((test) => test.diagnostic()?.duration ?? 0)
    const longestTestMs = Math.max(0, ...durations)
    if (module.ok()) passing.push({ file, milliseconds, longestTestMs, loaded, reached, startsProcesses })
    else failing.push(file)
  }
  return { passing, failing }
}

async function tryMutant(mutant: string, testTimeout: number, files: readonly string[]): Promise<Reply> {
  process.env['__STRYKER_ACTIVE_MUTANT__'] = mutant
  for (const config of [vitest.config, ...vitest.projects.map((project) => project.config)])
    Object.assign(config, { bail: 1, testTimeout, hookTimeout: testTimeout })
  const running = vitest.runTestSpecifications(files.map((file) => specifications.get(file)!))
  const result = await Promise.race([running, endless(testTimeout)])
  return result === undefined ? { killedBy: undefined } : { killedBy: firstFailure(files, result) }
}

/** Resolves when a test takes longer than its time limit: a loop that never ends leaves no turn for a timer. */
async function endless(testTimeout: number): Promise<undefined> {
  lastResultAt = performance.now()
  while (performance.now() - lastResultAt < testTimeout + 10_000) await setTimeout(1_000)
}

function firstFailure(
  files: readonly string[],
  { testModules, unhandledErrors }: TestRunResult,
): string | null {
  const modules = new Map(testModules.map((module) => [module.moduleId, module]))
  // In the order in which they run: after a failure, the result of each file is that of an earlier run.
  for (const file of files) {
    const module = modules.get(file)!
    for (const test of module.children.allTests('failed'))
      return `${module.relativeModuleId}: ${test.fullName}`
    if (!module.ok()) return module.relativeModuleId
  }
  return unhandledErrors.length > 0 ? 'an unhandled error' : null
}

process.on('message', (order: Order) => {
  const reply =
    'coverage' in order
      ? findCoverage(order.coverage)
      : tryMutant(order.mutant, order.testTimeout, order.files)
  void reply.then((value) => process.send!(value))
})
process.send!('ready')
