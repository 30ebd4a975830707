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
