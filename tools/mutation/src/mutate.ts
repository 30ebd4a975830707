import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { copyRepository } from './copy-repository.ts'
import { findMutants, shorten, shuffle, type FoundMutants, type Mutant } from './mutants.ts'
import type { Order, Reply, TestFile } from './run-tests.ts'
import { publishedPackages, readArguments, printScores, type Result, type Score } from './scores.ts'

// Changes the sources of a package in one place at a time, and runs the tests of the package that reach the place.
// Without a package, `count` is the sum for all that are published. CONTRIBUTING.md explains the output.

const root = fileURLToPath(new URL('../../..', import.meta.url))
const { folders, count, seed, parallel, match } = readArguments(root, process.argv.slice(2))
const results = fileURLToPath(new URL(`../results/`, import.meta.url))
interface Equivalent {
  readonly mutant: string
  readonly reason: string
}
const equivalents = new Map(
  (JSON.parse(readFileSync(new URL('../equivalents.json', import.meta.url), 'utf8')) as Equivalent[]).map(
    ({ mutant, reason }) => [mutant, reason],
  ),
)

const copy = copyRepository(root)
const children = new Set<ChildProcess>()
const scores: Score[] = []
try {
  for (const each of await selectMutants()) scores.push(await mutate(each))
} finally {
  for (const child of children) stop(child)
  rmSync(copy, { recursive: true, force: true })
}
printScores(scores, seed)

interface Selection extends FoundMutants {
  readonly name: string
  readonly folder: string
  readonly selected: readonly Mutant[]
}

async function selectMutants(): Promise<Selection[]> {
  const packages = await Promise.all(
    (folders.length > 0 ? folders : publishedPackages(root)).map(async (path) => {
      const folder = join(copy, path)
      const found = await findMutants(copy, globSync(join(folder, 'src/**/*.{ts,tsx}')))
      return { name: basename(path), folder, ...found }
    }),
  )
  const select = (mutants: readonly Mutant[]) =>
    shuffle(
      mutants.filter(({ file, key }) => file.includes(match) || key.includes(match)),
      seed,
    ).slice(0, count)
  const amongAll = new Set(select(packages.flatMap(({ mutants }) => mutants)))
  return packages.map((each) => ({
    ...each,
    selected:
      folders.length > 0 ? select(each.mutants) : each.mutants.filter((mutant) => amongAll.has(mutant)),
  }))
}

async function mutate({ name, folder, mutants: all, changed, selected }: Selection): Promise<Score> {
  const file = join(results, `${name}-${seed}.jsonl`)
  mkdirSync(results, { recursive: true })
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
  const earlier = lines.map((line) => JSON.parse(line) as Result)
  const done = new Map(earlier.map((result) => [result.key, result]))
  // A run goes on where the last one with this seed stopped; survivors are tried again, and so are mutants whose tests
  // timed out, which also happens on a busy machine.
  const left = selected.filter(({ key }) => !equivalents.has(key) && done.get(key)?.outcome !== 'killed')
  if (left.length > 0) {
    const originals = new Map([...changed.keys()].map((path) => [path, readFileSync(path)]))
    for (const [path, content] of changed) writeFileSync(path, content)
    const tests = await findTests(folder)
    const waiting = left.toReversed()
    const lane = async () => {
      let child: ChildProcess | undefined
      for (let mutant = waiting.pop(); mutant !== undefined; mutant = waiting.pop()) {
        child ??= await start(folder)
        const result = await tryMutant(child, mutant, tests)
        if (result.outcome === 'timed out') {
          stop(child)
          child = undefined
        }
        done.set(mutant.key, result)
        appendFileSync(file, `${JSON.stringify(result)}\n`)
        const { outcome, killedBy = '' } = result
        process.stdout.write(
          `${name} ${left.length - waiting.length}/${left.length} ${outcome} ${place(mutant)} ${killedBy}\n`,
        )
      }
      if (child) stop(child)
    }
    await Promise.all(Array.from({ length: parallel }, lane))
    for (const [path, content] of originals) writeFileSync(path, content)
  }
  const outcomes = selected.filter(({ key }) => !equivalents.has(key)).map(({ key }) => done.get(key)!)
  return {
    name,
    found: all.length,
    killed: outcomes.filter(({ outcome }) => outcome !== 'survived').length,
    equivalent: selected.length - outcomes.length,
    survivors: outcomes.filter(({ outcome }) => outcome === 'survived'),
  }
}

/** Runs all tests of the package once, without a mutant. */
async function findTests(folder: string): Promise<TestFile[]> {
  const coverage = mkdtempSync(join(tmpdir(), 'tokenwell-coverage-'))
  const child = await start(folder)
  const reply = await request(child, { coverage })
  stop(child)
  rmSync(coverage, { recursive: true })
  if (reply === undefined || !('passing' in reply)) throw new Error('The tests could not be run.')
  for (const file of reply.failing) process.stdout.write(`Left out, it fails without a mutant: ${file}\n`)
  if (reply.passing.length === 0) throw new Error(`No test of ${folder} passes without a mutant.`)
  // First what is fast and tests little else.
  const cost = ({ milliseconds, reached }: TestFile) => milliseconds * (1 + reached.length)
  return reply.passing.toSorted((a, b) => cost(a) - cost(b))
}

async function tryMutant(
  child: ChildProcess,
  { id, key, line }: Mutant,
  tests: readonly TestFile[],
): Promise<Result> {
  const reaching = tests.filter(({ reached }) => reached.includes(id))
  const loading = tests.some(({ loaded }) => loaded.includes(id))
  // What only another process runs is in nobody's coverage.
  const others = loading ? tests : reaching.length === 0 ? tests.filter((test) => test.startsProcesses) : []
  const files = [...new Set([...reaching, ...others])]
  if (files.length === 0) return { key, line, outcome: 'survived' }
  const usual = files.reduce((sum, { milliseconds }) => sum + milliseconds, 0)
  // A mutant may never finish.
  const testTimeout = Math.max(15_000, ...files.map(({ longestTestMs }) => 5 * longestTestMs))
  const order = { mutant: id, testTimeout, files: files.map(({ file }) => file) }
  const reply = await request(child, order, Math.round(60_000 + 5 * usual))
  if (reply === undefined || !('killedBy' in reply) || reply.killedBy === undefined)
    return { key, line, outcome: 'timed out' }
  return reply.killedBy === null
    ? { key, line, outcome: 'survived' }
    : { key, line, outcome: 'killed', killedBy: reply.killedBy }
}

async function start(folder: string): Promise<ChildProcess> {
  const script = fileURLToPath(new URL('run-tests.ts', import.meta.url))
  // A process group of its own: it ends together with what the tests have started.
  const child = fork(script, [copy, `${folder}/`], {
    detached: true,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  children.add(child)
  await once(child, 'message')
  return child
}

function stop(child: ChildProcess): void {
  children.delete(child)
  try {
    process.kill(-child.pid!, 'SIGKILL')
  } catch {
    // It has ended.
  }
}

async function request(
  child: ChildProcess,
  order: Order,
  milliseconds = 30 * 60_000,
): Promise<Reply | undefined> {
  const replied = new AbortController()
  const { signal } = replied
  const late = new Promise<undefined>((resolve) => setTimeout(resolve, milliseconds, undefined).unref())
  // A mutant may also end the process.
  const ended = once(child, 'exit', { signal }).then(() => undefined)
  const reply = once(child, 'message', { signal }).then(([value]) => value as Reply)
  child.send(order)
  try {
    return await Promise.race([reply, late, ended])
  } finally {
    replied.abort()
  }
}

function place({ file, line, original, replacement }: Mutant): string {
  return `${file}:${line} ${shorten(original)} → ${shorten(replacement)}`
}
