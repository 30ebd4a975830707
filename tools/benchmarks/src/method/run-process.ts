import { execFile, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** Runs a program of `src` in a separate process with one argument, and reads the JSON it writes. */
export async function runProcess<Result>(
  program: string,
  argument: object,
  flags: string[] = [],
): Promise<Result> {
  const path = fileURLToPath(new URL(`../${program}`, import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, path, JSON.stringify(argument)])
  return JSON.parse(stdout) as Result
}

/** In the program: returns its argument. */
export function givenArgument(): unknown {
  return JSON.parse(process.argv[2] ?? '{}')
}

/** In the program: writes its result and exits, even with open sockets. */
export function report(result: object): void {
  process.stdout.write(JSON.stringify(result), () => process.exit())
}

/** Measures each in turn, several times, so that a noisy minute affects all of them alike. */
export async function roundRobin<Id extends string, Result>(
  ids: readonly Id[],
  rounds: number,
  measure: (id: Id, round: number) => Promise<Result>,
): Promise<Map<Id, Result[]>> {
  const results = new Map(ids.map((id): [Id, Result[]] => [id, []]))
  for (let round = 0; round < rounds; round++) {
    for (const id of ids) results.get(id)?.push(await measure(id, round))
  }
  return results
}

/** Runs these programs in turn for several rounds; the minimum of the numbers that each prints. */
export function minimumOf(programs: readonly string[], rounds: number): Map<string, number> {
  const least = new Map<string, number>()
  for (let round = 0; round < rounds; round++) {
    for (const file of programs) least.set(file, Math.min(least.get(file) ?? Infinity, run(file)))
  }
  return least
}

function run(file: string): number {
  const { status, stdout, stderr } = spawnSync(process.execPath, [file], { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  return Number(stdout)
}
