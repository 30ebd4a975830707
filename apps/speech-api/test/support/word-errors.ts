/** The word error count: the fewest insertions, deletions and replacements between two sequences of words. */
export function wordErrors(spoken: readonly string[], recognised: readonly string[]): number {
  let row = [0, ...recognised.map((_, index) => index + 1)]
  for (const [line, word] of spoken.entries()) {
    const next = [line + 1]
    for (const [index, other] of recognised.entries()) {
      const replaced = (row[index] as number) + (word === other ? 0 : 1)
      next.push(Math.min(replaced, (row[index + 1] as number) + 1, (next[index] as number) + 1))
    }
    row = next
  }
  return row.at(-1) as number
}
