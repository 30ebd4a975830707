import type { Audit, Perform } from '../storage/act.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Keyring } from '../runtime/keyring.ts'
import type { Actor } from '../storage/audit-storage.ts'
import { changeableParts } from '../storage/sql/sql-storage.ts'
import type { Transaction } from '../storage/storage.ts'

/** An act of a feature that still gets every part of the storage. */
export type Act = <Result>(
  by: Actor,
  change: (stored: Transaction, audit: Audit) => Promise<Result>,
) => Promise<Result>

export function createAct(perform: Perform): Act {
  return (by, change) => perform(by, (act) => change(changeableParts(act), act.audit))
}

/** What the registries of a feature work with. */
export interface RegistryContext {
  readonly act: Act
  readonly keyring: Keyring
  readonly clock: Clock
}
