import { UserMistake } from '../user-mistake.ts'
import { createMemoryStorage } from './memory/memory-storage.ts'
import type { Storage } from './storage.ts'

/** Where a service keeps what it knows: `memory`, `pglite:PATH` or a `postgres://` URL. */
export type StorageLocation =
  | { readonly kind: 'memory' }
  | { readonly kind: 'pglite'; readonly folder: string }
  | { readonly kind: 'postgres'; readonly url: string }

export function parseStorageLocation(text: string): StorageLocation {
  if (text === 'memory') return { kind: 'memory' }
  if (text.startsWith('pglite:') && text.length > 'pglite:'.length) {
    return { kind: 'pglite', folder: text.slice('pglite:'.length) }
  }
  if (/^postgres(ql)?:\/\//.test(text) && URL.canParse(text)) return { kind: 'postgres', url: text }
  throw new UserMistake('The storage must be "memory", "pglite:PATH" or a postgres:// URL.')
}

/** Opens it, up to date; the SQL side is loaded only when it is asked for. */
export async function openStorage(
  location: StorageLocation,
  onError: (error: Error) => void,
): Promise<Storage> {
  switch (location.kind) {
    case 'memory':
      return createMemoryStorage()
    case 'pglite': {
      const { openPglite } = await import('./sql/open-pglite.ts')
      return openPglite(location.folder)
    }
    case 'postgres': {
      const { openPostgres } = await import('./sql/open-postgres.ts')
      return openPostgres(location.url, onError)
    }
  }
}
