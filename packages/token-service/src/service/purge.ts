import type { ClockJump } from '../features/audit/acts.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Keyring } from '../runtime/keyring.ts'
import { purgeAudit } from '../features/audit/acts.ts'
import type { Perform } from '../storage/act.ts'
import type { Storage } from '../features/context.ts'

export interface PurgeContext {
  readonly storage: Storage
  readonly perform: Perform
  /** Signs when the last purge was. */
  readonly keyring: Keyring
  readonly clock: Clock
  /** Milliseconds that pass whatever happens to the clock. */
  readonly elapsedMs: () => number
  readonly warn: (message: string) => void
  /** How long audit entries are kept. */
  readonly auditRetentionMs: number
  /** How long usage is kept, and the last uses of what no longer exists. */
  readonly usageRetentionMs: number
}

/** Deletes what is too old. */
export interface Purge {
  readonly run: () => Promise<void>
  /** Set while nothing is deleted, because the clock is ahead of the time that it should show. */
  readonly clockJump: () => ClockJump | undefined
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
/** Of the events that anybody can cause. */
const eventRetentionMs = 30 * dayMs
// Enough to find out why a client fails.
const requestRetentionMs = 7 * dayMs

/**
 * Deletes expired tokens, used assertions, old signing keys, failure counts, deleted projects, old activity and old entries of the audit
 * log. A clock that is set to a later year by mistake, or by an attacker, must not empty the database: unless it agrees with
 * the time since the last purge, nothing is deleted until an administrator has confirmed it. After a smaller jump, nothing is deleted for an
 * hour: a clock that was wrong for some minutes is then right again.
 */
export function createPurge(context: PurgeContext): Purge {
  const { storage, keyring, clock, elapsedMs, warn } = context
  let reference: { readonly lastPurgeMs: number; readonly elapsedMs: number } | undefined
  let jump: ClockJump | undefined
  let trusted = { nowMs: clock.now(), elapsedMs: elapsedMs() }
  let ahead: { readonly byMs: number; readonly sinceMs: number } | undefined
  let nextWarningMs = -Infinity

  async function findJump(nowMs: number): Promise<ClockJump | undefined> {
    const lastPurgeMs = await storage.purgeTime.find(keyring)
    if (lastPurgeMs === undefined) return { lastPurgeMs }
    // Also if it was another instance that purged, or an administrator has confirmed the clock.
    if (reference?.lastPurgeMs !== lastPurgeMs) reference = { lastPurgeMs, elapsedMs: elapsedMs() }
    const expectedMs = lastPurgeMs + elapsedMs() - reference.elapsedMs
    return nowMs - expectedMs > dayMs ? { lastPurgeMs } : undefined
  }

  /** Whether the clock has not jumped ahead for an hour. */
  function isTrusted(nowMs: number): boolean {
    const nowElapsedMs = elapsedMs()
    const byMs = nowMs - trusted.nowMs - (nowElapsedMs - trusted.elapsedMs)
    if (byMs > minuteMs) {
      if (!ahead || Math.abs(byMs - ahead.byMs) > minuteMs) ahead = { byMs, sinceMs: nowElapsedMs }
      if (nowElapsedMs - ahead.sinceMs < hourMs) return false
    }
    trusted = { nowMs, elapsedMs: nowElapsedMs }
    ahead = undefined
    return true
  }

  return {
    clockJump: () => jump,
    async run() {
      const nowMs = clock.now()
      jump = await findJump(nowMs)
      const waits = !isTrusted(nowMs)
      if (!jump) {
        if (waits) return
        nextWarningMs = -Infinity
        const lastPurgeMs = Math.max(nowMs, reference?.lastPurgeMs ?? nowMs)
        reference = { lastPurgeMs, elapsedMs: elapsedMs() }
        await storage.purgeTime.set(lastPurgeMs, keyring)
        await deleteExpired(context, nowMs)
      } else if (elapsedMs() >= nextWarningMs) {
        nextWarningMs = elapsedMs() + hourMs
        warn(describeJump(nowMs, jump))
      }
    },
  }
}

/** Returns a function that stops it. */
export function purgeRegularly(
  { run }: Pick<Purge, 'run'>,
  onError: (error: unknown) => void,
  intervalMs = 60_000,
): () => Promise<void> {
  let running: Promise<unknown> = Promise.resolve()
  const timer = setInterval(() => {
    running = running.then(run).catch(onError)
  }, intervalMs)
  timer.unref()
  return async () => {
    clearInterval(timer)
    await running
  }
}

async function deleteExpired(
  { storage, perform, auditRetentionMs, usageRetentionMs }: PurgeContext,
  nowMs: number,
): Promise<void> {
  const { tokens, failures, assertions, signingKeys, sessions, submissions, developers, projects } = storage
  const { activity, audit, compact } = storage
  const parts = [failures, assertions, signingKeys, sessions, submissions, developers, projects]
  // In whole days: each purge is an entry itself.
  const auditBeforeMs = nowMs - auditRetentionMs
  const beforeMs = auditBeforeMs - (auditBeforeMs % dayMs)
  await Promise.all([
    tokens.purge(nowMs).then((purged) => (purged > 0 ? compact() : undefined)),
    ...parts.map((part) => part.purge(nowMs)),
    activity.purgeRequests(nowMs - requestRetentionMs),
    activity.purgeEvents(nowMs - Math.min(auditRetentionMs, eventRetentionMs)),
    activity.purgeUsage(nowMs - usageRetentionMs),
    activity.purgeLastUses(nowMs - usageRetentionMs),
    audit
      .hasBefore(beforeMs)
      .then((isOld) =>
        isOld ? perform({ actorType: 'service' }, (act) => purgeAudit(act, { beforeMs, nowMs })) : undefined,
      ),
  ])
}

function describeJump(nowMs: number, { lastPurgeMs }: ClockJump): string {
  const what =
    lastPurgeMs === undefined
      ? 'The time of the last purge is missing or was changed'
      : `The clock shows ${isoTime(nowMs)}, and the last purge was at ${isoTime(lastPurgeMs)}`
  return `${what}: nothing is deleted until an administrator confirms the clock, in the portal under "Audit log" or with \`tokenwell-service admin confirm-clock\`.`
}

const isoTime = (ms: number) => new Date(ms).toISOString().slice(0, 19) + 'Z'
