import { spawnSync } from 'node:child_process'

/** Runs these programs in turn, several rounds, and keeps the least of the numbers that each of them writes. */
export function leastOf(programs: readonly string[], rounds: number): Map<string, number> {
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
