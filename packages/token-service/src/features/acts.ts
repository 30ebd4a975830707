import type { Audit, Perform } from '../storage/act.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Keyring } from '../runtime/keyring.ts'
import type { Actor } from '../storage/audit-storage.ts'
import type { Database } from '../storage/database.ts'
import { purgeTimeStorage } from '../storage/purge-time.ts'
import { createSqlAudit } from '../storage/sql-audit.ts'
import { secretStorage } from './credentials/storage.ts'
import { applicationStorage } from './applications/storage.ts'
import { catalogueStorage } from './catalogue/storage.ts'
import { developerStorage } from './people/storage.ts'
import { projectStorage } from './projects/storage.ts'
import { resourceServerStorage } from './resource-servers/storage.ts'
import { sessionStorage } from './sessions/storage.ts'
import { signingKeyStorage } from './signing-keys/storage.ts'
import { trustedIssuerStorage } from './trusted-issuers/storage.ts'

/** What can be changed in one transaction. Until it ends, only its own parts may be called. */
export type Transaction = ReturnType<typeof allParts>

export function allParts(database: Database) {
  return {
    projects: projectStorage(database),
    products: catalogueStorage(database, 'products'),
    scopes: catalogueStorage(database, 'scopes'),
    applications: applicationStorage(database),
    secrets: secretStorage(database),
    resourceServers: resourceServerStorage(database),
    trustedIssuers: trustedIssuerStorage(database),
    developers: developerStorage(database),
    sessions: sessionStorage(database),
    signingKeys: signingKeyStorage(database),
    audit: createSqlAudit(database),
    purgeTime: purgeTimeStorage(database),
  }
}

/** An act of a feature that still gets every part of the storage. */
export type Act = <Result>(
  by: Actor,
  change: (stored: Transaction, audit: Audit) => Promise<Result>,
) => Promise<Result>

export function createAct(perform: Perform): Act {
  return (by, change) => perform(by, (act) => change(allParts(act), act.audit))
}

/** What the registries of a feature work with. */
export interface RegistryContext {
  readonly act: Act
  readonly keyring: Keyring
  readonly clock: Clock
}
