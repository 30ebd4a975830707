import type { Clock } from '../runtime/clock.ts'
import type { Keyring } from '../runtime/keyring.ts'
import type { Perform } from '../storage/act.ts'
import type { ActivityRecorder } from '../storage/activity-recorder.ts'
import type { Database } from '../storage/sql/database.ts'
import type { WebhookSender } from './webhook/delivery.ts'

/** What the features of a running service share. */
export interface ServiceContext {
  readonly database: Database
  /** Changes something together with its entry in the audit log. */
  readonly perform: Perform
  readonly keyring: Keyring
  readonly clock: Clock
  readonly activity: ActivityRecorder
  readonly webhookSender: Pick<WebhookSender, 'attempt'>
  /** The URL that clients use; `undefined`: the one in the request. */
  readonly publicUrl: string | undefined
  readonly warn: (message: string) => void
  /** Logs an error; failures of the storage at most once a minute. */
  readonly logFailure: (error: unknown) => void
}
