import { openPostgres } from '../../src/storage/postgres/open-postgres.ts'
import type { Storage } from '../../src/storage/storage.ts'

/** Opens a database without applications. Errors of idle connections, which end with the server, are ignored. */
export function openTestPostgres(url: string): Promise<Storage> {
  return openPostgres(url, { onError: () => {}, prepare: async () => {} })
}
