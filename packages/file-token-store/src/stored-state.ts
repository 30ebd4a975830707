import type { TokenResponse } from '@tokenwell/core'
import type { TokenFailure } from '@tokenwell/core/protocol'

/** Everything that is stored for one cache key. Times are milliseconds since 1970. */
export interface StoredState {
  readonly token?: { readonly id: string; readonly expiresAt: number; readonly response: TokenResponse }
  readonly cooldown?: { readonly expiresAt: number; readonly error: TokenFailure }
  readonly lease?: StoredLease
  readonly fallback?: StoredLease
}

interface StoredLease {
  readonly holderId: string
  readonly since: number
  readonly expiresAt: number
}

/** The clock may be adjusted by less than this without invalidating what is stored. */
const toleranceMs = 1_000

export function serializeState(state: StoredState, now: number): string {
  return JSON.stringify({ writtenAt: now, ...current(state, now) })
}

/** @throws for anything but a serialized state */
export function deserializeState(text: string, now: number): StoredState {
  const { writtenAt, ...state } = JSON.parse(text, reviveDate) as StoredState & { writtenAt: number }
  const entries: unknown[] = Object.values(state)
  if (typeof writtenAt !== 'number' || !entries.every(isEntry)) throw new TypeError('not a stored state')
  // A clock that was set back would extend every lifetime.
  return now < writtenAt - toleranceMs ? {} : current(state, now)
}

/** The parts that have not expired. */
function current(state: StoredState, now: number): StoredState {
  return Object.fromEntries(
    Object.entries(state).filter(([, entry]) => entry !== undefined && entry.expiresAt > now),
  )
}

function isEntry(value: unknown): boolean {
  return typeof (value as { expiresAt?: unknown } | null)?.expiresAt === 'number'
}

/** Only in a response itself: members of its `extra` may have any name. */
function reviveDate(this: object, key: string, value: unknown): unknown {
  return key === 'issuedAt' && 'accessToken' in this ? new Date(value as string) : value
}
