import type { AuditKeyring } from './audit-storage.ts'

/** When something was last deleted because of its age, signed: nobody without the key can set it to a later time. */
export interface PurgeTimeStorage {
  /** `undefined` without a valid signature. */
  find(keyring: AuditKeyring): Promise<number | undefined>
  set(atMs: number, keyring: AuditKeyring): Promise<void>
}
