import { spawnSync } from 'node:child_process'

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
