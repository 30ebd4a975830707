import { changesOf, type Act } from '../../storage/act.ts'
import { auditStorage, type AuditRetention } from '../../storage/audit-storage.ts'
import { purgeTimeStorage } from '../../storage/purge-time.ts'

/** The clock is ahead of the time that it should show. */
export interface ClockJump {
  /** The last purge; `undefined` if the database does not have the signed time of one. */
  readonly lastPurgeMs: number | undefined
}

/** What is too old is deleted again: the clock is right, although it does not agree with the time since the last purge. */
export async function confirmClock(act: Act): Promise<void> {
  const purgeTime = purgeTimeStorage(act)
  const nowMs = act.clock.now()
  const lastPurgeMs = await purgeTime.find(act.keyring)
  await purgeTime.set(nowMs, act.keyring)
  act.audit('clock_confirmed', { changes: changesOf({ timeMs: nowMs }, { timeMs: lastPurgeMs }) })
}

/** Deletes the entries whose retention has ended, and records which. */
export async function purgeAudit(act: Act, retention: AuditRetention): Promise<void> {
  const purged = await auditStorage(act).purge(retention)
  if (purged) act.audit('audit_purged', { detail: `${purged.first} to ${purged.last}` })
}
