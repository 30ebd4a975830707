/** The fewest words that must be put in, left out or replaced to make one sequence of the other. */
export function wordErrors(said: readonly string[], heard: readonly string[]): number {
  let row = [0, ...heard.map((_, index) => index + 1)]
  for (const [line, word] of said.entries()) {
    const next = [line + 1]
    for (const [index, other] of heard.entries()) {
      const replaced = (row[index] as number) + (word === other ? 0 : 1)
      next.push(Math.min(replaced, (row[index + 1] as number) + 1, (next[index] as number) + 1))
    }
    row = next
  }
  return row.at(-1) as number
}
