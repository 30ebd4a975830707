import { ratio } from '../method/figures.ts'
import { ranked } from '../method/contest.ts'
import type { Contest } from '../result.ts'

/** Where a peer does better than ours, by how much, and why. */
export function peersAhead(contests: readonly Contest[]): string[] {
  const lines = contests.flatMap(({ what, entries, because, ...ranking }) => {
    const order = ranked(entries, ranking)
    const place = order.findIndex(({ name }) => name.startsWith('@tokenwell/'))
    const ours = order[place]
    if (ours === undefined || place === 0) return []
    const ahead = order.slice(0, place).map(({ name, value }) => `${name} (${ratio(value / ours.value)})`)
    return [`- **${what}**: ${ahead.join(', ')}. ${because}.`]
  })
  return ['### Where a peer does better', '', 'Its figure to ours.', '', ...lines, '']
}
