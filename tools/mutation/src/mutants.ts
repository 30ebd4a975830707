import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { relative } from 'node:path'
import { Instrumenter } from '@stryker-mutator/instrumenter'

/** One change of the sources that the tests should notice. */
export interface Mutant {
  /** Switches it on in the changed sources. */
  readonly id: string
  readonly file: string
  readonly line: number
  readonly operator: string
  readonly original: string
  readonly replacement: string
  /** The same for every run, until the code changes. */
  readonly key: string
}

/** The mutants of some files, and the contents with which each of them can be switched on. */
export interface FoundMutants {
  readonly mutants: readonly Mutant[]
  readonly changed: ReadonlyMap<string, string>
}

const silent = new Proxy({}, { get: (_, name) => (String(name).startsWith('is') ? () => false : () => {}) })

/** Finds the mutants of some files, without changing them. */
export async function findMutants(folder: string, files: readonly string[]): Promise<FoundMutants> {
  const sources = await Promise.all(
    files.map(async (name) => ({ name, content: await readFile(name, 'utf8'), mutate: true })),
  )
  const { files: instrumented, mutants: found } = await new Instrumenter(silent as never).instrument(
    sources,
    {
      plugins: null,
      excludedMutations: [],
      ignorers: [],
    },
  )
  const changed = new Map(instrumented.map(({ name, content }) => [name, content]))
  const textOf = new Map(sources.map(({ name, content }) => [name, content.split('\n')]))
  const seen = new Map<string, number>()
  const mutants = found
    .filter(({ status }) => status === undefined)
    .map(({ id, fileName, location, mutatorName, replacement }) => {
      const { start, end } = location
      const lines = textOf.get(fileName)!.slice(start.line, end.line + 1)
      lines[lines.length - 1] = lines.at(-1)!.slice(0, end.column)
      lines[0] = lines[0]!.slice(start.column)
      const file = relative(folder, fileName)
      const original = lines.join('\n')
      const same = `${file}: ${shorten(original)} → ${shorten(replacement)}`
      const count = (seen.get(same) ?? 0) + 1
      seen.set(same, count)
      const key = count === 1 ? same : `${same} (${count})`
      return { id, file, line: start.line + 1, operator: mutatorName, original, replacement, key }
    })
  return { mutants, changed }
}

/** Puts the mutants in an order that depends on the seed only. */
export function shuffle(mutants: readonly Mutant[], seed: number): Mutant[] {
  const rank = ({ key }: Mutant) => createHash('sha256').update(`${seed} ${key}`).digest('hex')
  return mutants.toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1))
}

/** One line of a table. */
export function shorten(code: string): string {
  const line = code.replaceAll(/\s+/g, ' ')
  return line.length > 100 ? `${line.slice(0, 97)}…` : line
}
