import type { TokenProvider } from '@tokenwell/core'

/** What may be told of a token to anybody: its age, and never the token. */
export interface TokenLife {
  /** How long the token was good for when it came; undefined as long as there is none. */
  readonly lifetimeMs?: number | undefined
  readonly remainingMs?: number | undefined
  /** How often a token was asked for, every attempt counted. */
  readonly tokenRequests: number
  /** How many tokens came after the first. */
  readonly renewals: number
  /** How many requests carried one. */
  readonly apiCalls: number
}

/** Follows one provider's tokens, by its events alone. */
export interface TokenWatch {
  life(): TokenLife
  countApiCall(): void
  stop(): void
}

/** @param onChange called when something happened, other than that time went by */
export function watchTokenLife(
  tokens: Pick<TokenProvider, 'on'>,
  onChange: () => void = () => {},
): TokenWatch {
  let tokenRequests = 0
  let received = 0
  let apiCalls = 0
  let current: { readonly lifetimeMs: number; readonly endsAt: number } | undefined

  const stop = tokens.on((event) => {
    if (event.type === 'token_requested') tokenRequests++
    if (event.type === 'token_rejected' && event.refreshing) current = undefined
    if (event.type === 'token_received') {
      received++
      current = { lifetimeMs: event.remainingMs, endsAt: Date.now() + event.remainingMs }
    }
    onChange()
  })

  return {
    life: () => ({
      lifetimeMs: current?.lifetimeMs,
      remainingMs: current && Math.max(0, current.endsAt - Date.now()),
      tokenRequests,
      renewals: Math.max(0, received - 1),
      apiCalls,
    }),
    countApiCall() {
      apiCalls++
      onChange()
    },
    stop,
  }
}

/** How a provider with default settings treats its token: see the documentation of `@tokenwell/core`. */
export type TokenState = 'none' | 'fresh' | 'ageing' | 'expiring'

export function tokenStateOf({ lifetimeMs = 0, remainingMs = 0 }: TokenLife): TokenState {
  if (remainingMs <= 0) return 'none'
  if (remainingMs < Math.min(10_000, lifetimeMs / 20)) return 'expiring'
  return remainingMs < Math.min(300_000, lifetimeMs / 5) ? 'ageing' : 'fresh'
}
