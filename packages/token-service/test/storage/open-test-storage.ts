import { systemClock } from '../../src/runtime/clock.ts'
import { createKeyring } from '../../src/runtime/keyring.ts'
import { openPostgres } from '../../src/storage/postgres/open-postgres.ts'
import { openMemory, openSqlite } from '../../src/storage/sqlite/open-sqlite.ts'
import type { Storage } from '../../src/storage/storage.ts'

/** What the audit logs of the test storages are signed with. */
export const testKeyring = createKeyring(['test key '.repeat(4)])

const context = { keyring: testKeyring, clock: systemClock }

export const openTestOptions = { ...context, onError: () => {}, prepare: async () => {} }

export const openTestMemory = (): Promise<Storage> => openMemory(context)

export const openTestSqlite = (file: string): Promise<Storage> => openSqlite(file, context)

export const openTestPostgres = (url: string): Promise<Storage> => openPostgres(url, openTestOptions)
