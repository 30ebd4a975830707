import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'

/** What the tests made of one mutant. */
export interface Result {
  readonly key: string
  readonly line: number
  readonly outcome: 'killed' | 'timed out' | 'survived'
  readonly killedBy?: string | undefined
}

/** The outcome of the mutants of one package. */
export interface Score {
  readonly name: string
  readonly found: number
  readonly killed: number
  readonly equivalent: number
  readonly survivors: readonly Result[]
}

/** Prints a table of all packages, then the mutants that no test noticed. */
export function printScores(scores: readonly Score[], seed: number): void {
  const sum = (count: (score: Score) => number) => scores.reduce((total, score) => total + count(score), 0)
  const total: Score = {
    name: 'all',
    found: sum(({ found }) => found),
    killed: sum(({ killed }) => killed),
    equivalent: sum(({ equivalent }) => equivalent),
    survivors: scores.flatMap(({ survivors }) => survivors),
  }
  const rows = [...scores, ...(scores.length > 1 ? [total] : [])].map(
    ({ name, found, killed, equivalent, survivors }) => {
      const tried = killed + survivors.length
      const percent = tried === 0 ? '–' : `${((100 * killed) / tried).toFixed(1)} %`
      return [name, found, tried, killed, survivors.length, equivalent, percent]
    },
  )
  const table = [['package', 'mutants', 'tried', 'killed', 'survived', 'equivalent', 'score'], ...rows]
  const lines = table.map((row) => `| ${row.join(' | ')} |`)
  process.stdout.write(
    `\nSeed ${seed}\n\n${lines[0]}\n|${' --- |'.repeat(7)}\n${lines.slice(1).join('\n')}\n`,
  )
  for (const { key, line } of total.survivors) process.stdout.write(`survived, line ${line}, ${key}\n`)
}

const usage = 'Usage: pnpm mutate [package…] [--count 200] [--seed 1] [--parallel 1] [--match text]'

export interface Arguments {
  /** Folders of packages, from the root; empty for all that are published. */
  readonly folders: readonly string[]
  readonly count: number
  readonly seed: number
  readonly parallel: number
  /** A part of a file's path, or of a mutant. */
  readonly match: string
}

/** Reads the arguments of the command; prints what is wrong with them and exits with 2. */
export function readArguments(root: string, args: readonly string[]): Arguments {
  try {
    const { values, positionals } = parseArgs({
      args: args.filter((arg) => arg !== '--'),
      allowPositionals: true,
      options: {
        count: { type: 'string', default: '200' },
        seed: { type: 'string', default: '1' },
        parallel: { type: 'string', default: '1' },
        match: { type: 'string', default: '' },
        help: { type: 'boolean', short: 'h' },
      },
    })
    if (values.help) {
      process.stdout.write(`${usage}\n`)
      process.exit()
    }
    return {
      folders: positionals.map((name) => findPackage(root, name)),
      count: wholeNumber('count', values.count),
      seed: wholeNumber('seed', values.seed),
      parallel: wholeNumber('parallel', values.parallel),
      match: values.match,
    }
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n${usage}\n`)
    process.exit(2)
  }
}

function findPackage(root: string, name: string): string {
  const folder = ['packages', 'apps']
    .map((group) => join(group, name))
    .find((each) => existsSync(join(root, each, 'src')))
  if (folder === undefined) throw new Error(`There is no package "${name}" in packages or apps.`)
  return folder
}

/** Folders of all packages that are published, from the root. */
export function publishedPackages(root: string): string[] {
  return globSync('packages/*/package.json', { cwd: root })
    .filter((file) => !(JSON.parse(readFileSync(join(root, file), 'utf8')) as { private?: boolean }).private)
    .map((file) => dirname(file))
}

function wholeNumber(name: string, text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new Error(`--${name} must be a whole number from 1, not "${text}".`)
  return Number(text)
}
