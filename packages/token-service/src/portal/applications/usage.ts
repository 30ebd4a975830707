import type { TokenRequestOutcome, UsageEntry } from '../../storage/activity-storage.ts'
import type { ErrorReason } from '../../oauth/protocol-error.ts'

const hourMs = 3_600_000

/** What the chart can show: its name, its number of bars, the time that one represents, and that between two labels. */
export const usageRanges = [
  { id: '24h', label: '24 hours', bars: 24, barMs: hourMs, labelMs: 4 * hourMs },
  { id: '7d', label: '7 days', bars: 28, barMs: 6 * hourMs, labelMs: 24 * hourMs },
  { id: '30d', label: '30 days', bars: 30, barMs: 24 * hourMs, labelMs: 5 * 24 * hourMs },
] as const

export type UsageRange = (typeof usageRanges)[number]

export interface UsageBar {
  readonly fromMs: number
  readonly issued: number
  readonly failed: number
}

export interface Usage {
  readonly range: UsageRange
  /** The oldest first; the last one contains the present. */
  readonly bars: readonly UsageBar[]
  readonly issued: number
  readonly failed: number
  /** The most frequent first. */
  readonly failures: readonly (readonly [TokenRequestOutcome, number])[]
}

export function usageStart({ bars, barMs }: UsageRange, nowMs: number): number {
  return nowMs - (nowMs % barMs) - (bars - 1) * barMs
}

export function summarizeUsage(
  entries: readonly Omit<UsageEntry, 'clientId'>[],
  range: UsageRange,
  nowMs: number,
): Usage {
  const startMs = usageStart(range, nowMs)
  const bars = Array.from({ length: range.bars }, (_, index) => ({
    fromMs: startMs + index * range.barMs,
    issued: 0,
    failed: 0,
  }))
  const failures = new Map<TokenRequestOutcome, number>()
  for (const { hourMs: atMs, outcome, requests } of entries) {
    const bar = bars[Math.floor((atMs - startMs) / range.barMs)]
    if (!bar) continue
    if (outcome === 'issued') {
      bar.issued += requests
    } else {
      bar.failed += requests
      failures.set(outcome, (failures.get(outcome) ?? 0) + requests)
    }
  }
  const sum = (part: 'issued' | 'failed') => bars.reduce((total, bar) => total + bar[part], 0)
  return {
    range,
    bars,
    issued: sum('issued'),
    failed: sum('failed'),
    failures: [...failures].sort(([, a], [, b]) => b - a),
  }
}

const outcomes: Partial<Record<'issued' | ErrorReason, readonly [label: string, help: string]>> = {
  issued: ['Token issued', ''],
  invalid_client: ['Invalid credentials', 'Check the client’s secret or key: it is wrong or was revoked.'],
  expired_secret: ['Expired secret', 'Rotate the secret, and deploy the new one.'],
  application_not_approved: ['Not approved', 'Ask an administrator to approve the application.'],
  too_many_failures: ['Too many failures', 'Check the client’s credentials. A correct secret still works.'],
  invalid_assertion: [
    'Invalid assertion',
    'Check the assertion’s audience, and the client’s clock and registered key.',
  ],
  client_not_identified: [
    'Identity of no application',
    'Check the rules of the trusted issuer. The log of the service says which JWT did not match.',
  ],
  missing_dpop_proof: ['Missing DPoP proof', 'Send a DPoP proof, or let the application get unbound tokens.'],
  invalid_dpop_proof: [
    'Invalid DPoP proof',
    'Check the clock of the client, and the URL of the token endpoint that it signs.',
  ],
  key_set_unavailable: [
    'JWK set unavailable',
    'Check the URL of the JWK set: the service could not load it.',
  ],
  unavailable: ['Service unavailable', 'Try again later: the service could not reach its storage.'],
}

/** The result of a token request in plain words, and what to do about it. */
export function describeOutcome(outcome: TokenRequestOutcome): { label: string; help: string } {
  const words = outcome.replaceAll('_', ' ')
  const [
    label = words.charAt(0).toUpperCase() + words.slice(1),
    help = 'Correct the client’s request: it is invalid.',
  ] = outcomes[outcome as ErrorReason] ?? []
  return { label, help }
}
