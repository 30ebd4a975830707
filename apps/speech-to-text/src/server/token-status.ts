import type { TokenErrorKind, TokenProvider } from '@tokenwell/core'

/** What anybody may know about a token: its lifetime and use, never the token itself. */
export interface TokenStatus {
  /** Lifetime of the token when it was received; undefined without a token. */
  readonly lifetimeMs?: number
  readonly remainingMs?: number
  /** Token requests, including failed ones. */
  readonly tokenRequests: number
  /** API requests sent with a token. */
  readonly apiCalls: number
  /** The latest steps, the oldest first. */
  readonly steps: readonly TokenStep[]
}

/** What the page does to the token, to show what follows. */
export type Trial = 'revoked' | 'expired' | 'outage'

/** What happened to a token. Uses, and failures for the same reason, that follow each other are one step. */
export interface TokenStep {
  readonly what: 'requested' | 'used' | 'refreshed' | 'rejected' | 'replaced' | 'failed' | Trial
  readonly why?: string
  readonly count: number
  /** Milliseconds since 1970. */
  readonly at: number
}

const MAX_STEPS = 12
const reasons: Partial<Record<TokenErrorKind, string>> = {
  credentials: 'wrong client ID or secret',
  configuration: 'wrong configuration',
  throttled: 'too many requests',
  unavailable: 'not available',
  malformed: 'invalid response',
}

/**
 * Follows the tokens of one provider through its events.
 *
 * @param onChange called after each change, except the passing of time
 */
export function watchToken(tokens: TokenProvider, onChange: () => void) {
  let tokenRequests = 0
  let apiCalls = 0
  let next: 'requested' | 'refreshed' | 'replaced' = 'requested'
  let steps: TokenStep[] = []
  let current: { readonly lifetimeMs: number; readonly expiresAt: number } | undefined
  const add = (what: TokenStep['what'], why?: string): void => {
    const last = steps.at(-1)
    const repeats = (what === 'used' || what === 'failed') && last?.what === what && last.why === why
    const step = { what, why, count: repeats ? last.count + 1 : 1, at: Date.now() }
    steps = [...(repeats ? steps.slice(0, -1) : steps), step].slice(-MAX_STEPS)
    onChange()
  }
  const stop = tokens.subscribe((event) => {
    if (event.type === 'token_requested') {
      tokenRequests++
      onChange()
    } else if (event.type === 'token_failed') {
      const status = event.status ? ` (${event.status})` : ''
      add('failed', `${reasons[event.kind] ?? event.kind}${status}`)
    } else if (event.type === 'token_rejected' && event.refreshing) {
      current = undefined
      next = 'replaced'
      add('rejected')
    } else if (event.type === 'token_received') {
      current = { lifetimeMs: event.remainingMs, expiresAt: Date.now() + event.remainingMs }
      add(next)
      next = 'refreshed'
    }
  })
  return {
    status: (): TokenStatus => ({
      lifetimeMs: current?.lifetimeMs,
      remainingMs: current && Math.max(0, current.expiresAt - Date.now()),
      tokenRequests,
      apiCalls,
      steps,
    }),
    addTrial(trial: Trial): void {
      if (trial === 'expired') current = undefined
      add(trial)
    },
    countApiCall(): void {
      apiCalls++
      if (current && current.expiresAt > Date.now()) add('used')
      else onChange()
    },
    stop,
  }
}
