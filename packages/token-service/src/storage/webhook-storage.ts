/** Where events are sent. */
export interface Webhook {
  readonly url: string
  /** What the requests are signed with, encrypted. */
  readonly encryptedSecret: string
  readonly createdAtMs: number
}

/** Something that the webhook reports. */
export interface WebhookEvent {
  /** The same for each attempt, and for each instance that finds the event. */
  readonly id: string
  readonly type: string
  /** The body of the request, JSON. */
  readonly body: string
  readonly createdAtMs: number
}

/** An event, and what became of it. */
export interface WebhookDelivery extends WebhookEvent {
  readonly attempts: number
  /** `undefined`: it was delivered, or the last attempt failed. */
  readonly nextAttemptAtMs?: number | undefined
  readonly deliveredAtMs?: number | undefined
  /** Why the last attempt failed. */
  readonly failure?: string | undefined
}

/** What became of an attempt. */
export type WebhookOutcome =
  | { readonly deliveredAtMs: number; readonly failure?: undefined }
  | { readonly failure: string; readonly deliveredAtMs?: undefined }

/** The webhook, and its events until they are purged. */
export interface WebhookStorage {
  find(): Promise<Webhook | undefined>
  /** In place of the one before; its events stay. */
  set(webhook: Webhook): Promise<void>
  /** With its events. */
  remove(): Promise<void>
  /** Events that are known are ignored. Those without an attempt are due at once, the others never. */
  add(events: readonly WebhookDelivery[]): Promise<void>
  /** Until when expiring credentials were looked for: 0 for a new webhook. */
  checkedUntilMs(): Promise<number>
  setCheckedUntil(ms: number): Promise<void>
  /**
   * Takes one of the events that are due: it counts as tried, and is due again at the time that `retryAtMs` returns. Of
   * several instances, one gets it.
   */
  claim(
    nowMs: number,
    retryAtMs: (attempts: number) => number | undefined,
  ): Promise<WebhookDelivery | undefined>
  record(id: string, outcome: WebhookOutcome): Promise<void>
  /** The newest first. */
  list(limit: number): Promise<WebhookDelivery[]>
  /** Deletes the events that were created by then; returns how many. */
  purge(createdUntilMs: number): Promise<number>
}
