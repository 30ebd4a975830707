import { changesOf, type Audit } from '../../storage/act.ts'
import type { Transaction } from '../acts.ts'
import type { CatalogueEntry, CatalogueKind } from './storage.ts'

type Stored = Pick<Transaction, CatalogueKind>

const nouns = { products: 'product', scopes: 'scope' } as const

/** Adds a product or a scope to the catalogue, or changes what is said of it; what is undefined is removed. */
export async function setEntry(
  kind: CatalogueKind,
  entry: CatalogueEntry,
  stored: Stored,
  audit: Audit,
): Promise<`${(typeof nouns)[CatalogueKind]}_${'added' | 'changed'}`> {
  const catalogue = stored[kind]
  const { name, audience, description } = entry
  const current = (await catalogue.list()).find((each) => each.name === name)
  const changes = changesOf({ audience, description }, current)
  const event = `${nouns[kind]}_${current ? 'changed' : 'added'}` as const
  if (current && !changes) return event
  await catalogue.set(entry)
  audit(event, { detail: name, changes })
  return event
}

/** Applications that have it keep it. */
export async function removeEntry(
  kind: CatalogueKind,
  name: string,
  stored: Stored,
  audit: Audit,
): Promise<void> {
  await stored[kind].remove(name)
  audit(`${nouns[kind]}_removed`, { detail: name })
}
