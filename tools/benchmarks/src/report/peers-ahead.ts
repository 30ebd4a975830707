import { ratio } from '../method/figures.ts'
import { ranked } from '../method/ranked.ts'
import type { Comparison } from '../result.ts'

/** Where a peer is better than ours, by how much, and why. */
export function peersAhead(comparisons: readonly Comparison[]): string[] {
  const lines = comparisons.flatMap(({ what, entries, because, ...ranking }) => {
    const order = ranked(entries, ranking)
    const place = order.findIndex(({ name }) => name.startsWith('@tokenwell/'))
    const ours = order[place]
    if (ours === undefined || place === 0) return []
    const ahead = order.slice(0, place).map(({ name, value }) => `${name} (${ratio(value / ours.value)})`)
    return [`- **${what}**: ${ahead.join(', ')}. ${because}.`]
  })
  return [
    '## Where a peer is better',
    '',
    'Each figure is that of the peer, relative to ours.',
    '',
    ...lines,
    '',
  ]
}
