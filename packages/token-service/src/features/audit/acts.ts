import type { Clock } from '../../runtime/clock.ts'
import type { Keyring } from '../../runtime/keyring.ts'
import type { Actor } from '../../storage/audit-storage.ts'
import { changesOf } from '../../storage/act.ts'
import { type Act } from '../acts.ts'

/** The clock is ahead of the time that it should show. */
export interface ClockJump {
  /** The last purge; `undefined` if the database does not have the signed time of one. */
  readonly lastPurgeMs: number | undefined
}

/** What is too old is deleted again: the clock is right, although it does not agree with the time since the last purge. */
export async function confirmClock(
  { act, keyring, clock }: { readonly act: Act; readonly keyring: Keyring; readonly clock: Clock },
  by: Actor,
): Promise<void> {
  await act(by, async ({ purgeTime }, audit) => {
    const nowMs = clock.now()
    const lastPurgeMs = await purgeTime.find(keyring)
    await purgeTime.set(nowMs, keyring)
    audit('clock_confirmed', { changes: changesOf({ timeMs: nowMs }, { timeMs: lastPurgeMs }) })
  })
}
