import type { Clock } from '../runtime/clock.ts'
import type { Sign } from '../storage/audit-storage.ts'
import type { Storage } from '../storage/storage.ts'

export interface PurgeContext {
  readonly storage: Storage
  /** Signs where the audit log starts after a purge. */
  readonly sign: Sign
  readonly clock: Clock
  readonly onError: (error: unknown) => void
  /** How long audit entries are kept. */
  readonly auditRetentionMs: number
  /** How long usage is kept, and the last uses of what no longer exists. */
  readonly usageRetentionMs: number
  /** @default 60_000 */
  readonly intervalMs?: number | undefined
}

// Enough to find out why a client fails.
const requestRetentionMs = 7 * 86_400_000
// Longer than a secret is reported before it expires, so that none is reported twice.
const webhookRetentionMs = 31 * 86_400_000

/** Deletes expired tokens, used assertions, old signing keys, failure counts, deleted projects, old activity and old events of the webhook regularly; returns a function that stops it. */
export function purgeRegularly({
  storage,
  sign,
  clock,
  onError,
  auditRetentionMs,
  usageRetentionMs,
  intervalMs = 60_000,
}: PurgeContext): () => Promise<void> {
  let running: Promise<unknown> = Promise.resolve()
  const timer = setInterval(() => {
    const nowMs = clock.now()
    running = running
      .then(() =>
        Promise.all([
          ...[
            storage.tokens,
            storage.failures,
            storage.assertions,
            storage.signingKeys,
            storage.sessions,
            storage.developers,
            storage.projects,
          ].map((part) => part.purge(nowMs)),
          storage.activity.purgeRequests(nowMs - requestRetentionMs),
          storage.webhook.purge(nowMs - webhookRetentionMs),
          storage.audit.purge(nowMs - auditRetentionMs, sign),
          storage.activity.purgeUsage(nowMs - usageRetentionMs),
          storage.activity.purgeLastUses(nowMs - usageRetentionMs),
        ]),
      )
      .catch(onError)
  }, intervalMs)
  timer.unref()
  return async () => {
    clearInterval(timer)
    await running
  }
}
