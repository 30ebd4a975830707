import type { EntryVault } from './entry-vault.ts'

export type EntryKind = 'token' | 'hold'

/** What an entry says in the clear, `id.end.`, and what it holds. */
interface Entry {
  readonly id: string
  /** Milliseconds since 1970 by Redis's clock. */
  readonly endsAt: number
  readonly text: string
}

/** All that Redis keeps for one cache key: the names, and how the entries are written. */
export interface EntrySlot {
  /** Names of Redis keys, all with one hash tag. */
  readonly keys: Readonly<Record<EntryKind | 'lease', string>>
  seal(kind: EntryKind, entry: Entry): Promise<string>
  /** @throws for what this slot's vault did not write for this very cache key, kind, id and end */
  open(kind: EntryKind, value: string): Promise<Entry>
}

export async function openSlot(vault: EntryVault, keyPrefix: string, cacheKey: string): Promise<EntrySlot> {
  const tag = `${keyPrefix}{${await vault.name(cacheKey)}}`
  return {
    keys: { token: `${tag}:token`, hold: `${tag}:hold`, lease: `${tag}:lease` },
    async seal(kind, { id, endsAt, text }) {
      const head = `${id}.${endsAt}.`
      return head + (await vault.seal(text, [cacheKey, kind, head]))
    },
    async open(kind, value) {
      const [head = '', id = '', endsAt] = /^([\w-]{1,80})\.(\d{1,15})\./.exec(value) ?? []
      if (head === '') throw new TypeError('no entry')
      const text = await vault.open(value.slice(head.length), [cacheKey, kind, head])
      return { id, endsAt: Number(endsAt), text }
    },
  }
}
