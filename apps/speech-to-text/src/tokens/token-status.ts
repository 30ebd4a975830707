import type { TokenErrorKind, TokenProvider } from '@tokenwell/core'

/** What anybody may know about a token: its lifetime and use, never the token itself. */
export interface TokenStatus {
  /** Lifetime of the token when it was received; undefined without a token. */
  readonly lifetimeMs?: number | undefined
  readonly remainingMs?: number | undefined
  /** Token requests, including failed ones. */
  readonly tokenRequests: number
  /** Tokens received after the first. */
  readonly refreshes: number
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
  /** Why it failed, in a few words. */
  readonly why?: string | undefined
  readonly count: number
  /** Milliseconds since 1970. */
  readonly at: number
}

const maxSteps = 12

/** Follows the tokens of one provider through its events. */
export interface TokenWatcher {
  status(): TokenStatus
  countApiCall(): void
  addTrial(trial: Trial): void
  stop(): void
}

/** @param onChange called after each change, except the passing of time */
export function watchToken(
  tokens: Pick<TokenProvider, 'subscribe'>,
  onChange: () => void = () => {},
): TokenWatcher {
  let tokenRequests = 0
  let received = 0
  let apiCalls = 0
  let wasRejected = false
  const steps: TokenStep[] = []
  const add = (what: TokenStep['what'], why?: string): void => {
    const last = steps.at(-1)
    const repeats = ['used', 'failed'].includes(what) && last?.what === what && last.why === why
    if (repeats) steps.pop()
    steps.push({ what, why, count: repeats ? last.count + 1 : 1, at: Date.now() })
    if (steps.length > maxSteps) steps.shift()
  }
  let current: { readonly lifetimeMs: number; readonly expiresAt: number } | undefined

  const stop = tokens.subscribe((event) => {
    if (event.type === 'token_requested') tokenRequests++
    else if (event.type === 'token_failed') add('failed', reasonOf(event))
    else if (event.type === 'token_rejected' && event.refreshing) {
      current = undefined
      wasRejected = true
      add('rejected')
    } else if (event.type === 'token_received') {
      received++
      add(wasRejected ? 'replaced' : received === 1 ? 'requested' : 'refreshed')
      wasRejected = false
      current = { lifetimeMs: event.remainingMs, expiresAt: Date.now() + event.remainingMs }
    } else return
    onChange()
  })

  return {
    status: () => ({
      lifetimeMs: current?.lifetimeMs,
      remainingMs: current && Math.max(0, current.expiresAt - Date.now()),
      tokenRequests,
      refreshes: Math.max(0, received - 1),
      apiCalls,
      steps: [...steps],
    }),
    addTrial(trial) {
      if (trial === 'expired') current = undefined
      add(trial)
      onChange()
    },
    countApiCall() {
      apiCalls++
      if (current && current.expiresAt > Date.now()) add('used')
      onChange()
    },
    stop,
  }
}

const reasons: Record<TokenErrorKind, string> = {
  credentials: 'wrong client ID or secret',
  configuration: 'wrong configuration',
  throttled: 'too many requests',
  unavailable: 'not available',
  malformed: 'invalid response',
  aborted: 'cancelled',
}

function reasonOf({ kind, status }: { kind: TokenErrorKind; status?: number | undefined }): string {
  return status === undefined ? reasons[kind] : `${reasons[kind]} (${status})`
}

/** The states of a token in a provider with default settings: see the documentation of `@tokenwell/core`. */
export type TokenState = 'none' | 'fresh' | 'due-for-refresh' | 'expiring'

export function tokenStateOf({ lifetimeMs = 0, remainingMs = 0 }: TokenStatus): TokenState {
  if (remainingMs <= 0) return 'none'
  if (remainingMs < Math.min(10_000, lifetimeMs / 20)) return 'expiring'
  return remainingMs < Math.min(300_000, lifetimeMs / 5) ? 'due-for-refresh' : 'fresh'
}
