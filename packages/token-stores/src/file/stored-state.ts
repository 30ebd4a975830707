import { hostname, uptime } from 'node:os'

/** Everything that is stored for one cache key. Times are milliseconds since 1970. */
export interface StoredState {
  /** Entries as the entry format encodes them. */
  readonly token?: string | undefined
  readonly cooldown?: string | undefined
  readonly lease?: StoredLease | undefined
  readonly fallback?: StoredLease | undefined
}

interface StoredLease {
  readonly holderId: string
  readonly since: number
  readonly expiresAt: number
}

/** When a state was written, by the wall clock and by the time since the machine started. */
interface WrittenAt {
  readonly writtenAt: number
  readonly machine: string
  readonly upMs: number
}

/** The clock may be adjusted by less than this without invalidating what is stored. */
const toleranceMs = 1_000

export function serializeState(state: StoredState): string {
  const written: WrittenAt = { writtenAt: Date.now(), machine: hostname(), upMs: upMs() }
  return JSON.stringify({ ...written, ...state })
}

/** The leases that have not expired, and the entries. @throws for anything but a serialized state */
export function deserializeState(text: string): StoredState {
  const { writtenAt, machine, upMs, ...state } = JSON.parse(text) as StoredState & WrittenAt
  const { token, cooldown, lease, fallback } = state
  const isState = [token, cooldown].every(isEntry) && [lease, fallback].every(isLease)
  if (typeof writtenAt !== 'number' || !isState) throw new TypeError('not a stored state')
  // A clock that was set back would extend every lifetime.
  if (Date.now() - writtenAt < elapsedMs(machine, upMs) - toleranceMs) return {}
  return { token, cooldown, lease: current(lease), fallback: current(fallback) }
}

/**
 * The time since a state was written, as far as the wall clock plays no part in it: a token that was stored while that
 * clock was ahead must not become valid again later. After a restart of the machine, it is less than the real time.
 */
function elapsedMs(machine: string, upMsThen: number): number {
  return machine === hostname() ? Math.max(0, upMs() - upMsThen) : 0
}

function upMs(): number {
  return Math.floor(uptime() * 1_000)
}

function current(lease: StoredLease | undefined): StoredLease | undefined {
  return lease && lease.expiresAt > Date.now() ? lease : undefined
}

function isEntry(value: unknown): boolean {
  return value === undefined || typeof value === 'string'
}

function isLease(value: unknown): boolean {
  return value === undefined || typeof (Object(value) as { expiresAt?: unknown }).expiresAt === 'number'
}
