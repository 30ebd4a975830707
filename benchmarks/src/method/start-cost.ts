import { spawnSync } from 'node:child_process'

/** What a program ends with to be measured by {@link startCost}. */
export const tellUsage =
  'const used = process.cpuUsage(); process.stdout.write(String(used.user + used.system), () => process.exit())'

/**
 * Milliseconds of processor time that each of these programs takes to start: the least of several rounds, in turn. It is
 * the process's own time: on a busy machine the clock on the wall counts the others' as well.
 */
export function startCost(files: readonly string[], rounds: number): Map<string, number> {
  const least = new Map<string, number>()
  for (let round = 0; round < rounds; round++) {
    for (const file of files) least.set(file, Math.min(least.get(file) ?? Infinity, startOnce(file)))
  }
  return least
}

function startOnce(file: string): number {
  const { status, stdout, stderr } = spawnSync(process.execPath, [file], { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  return Number(stdout) / 1000
}
