import { changesOf, type Act } from '../../storage/act.ts'
import { revisionOf } from '../../storage/revision.ts'
import { catalogueStorage, type CatalogueEntry, type CatalogueKind } from './storage.ts'

const nouns = { products: 'product', scopes: 'scope' } as const

/** Adds a product or a scope to the catalogue, or changes what is said of it; what is undefined is removed. `check` sees what there is. */
export async function setEntry(
  act: Act,
  kind: CatalogueKind,
  entry: CatalogueEntry,
  check: (current: CatalogueEntry | undefined) => void = () => {},
): Promise<`${(typeof nouns)[CatalogueKind]}_${'added' | 'changed'}`> {
  const catalogue = catalogueStorage(act, kind)
  const { name, audience, description } = entry
  const current = (await catalogue.list()).find((each) => each.name === name)
  check(current)
  const changes = changesOf({ audience, description }, current)
  const event = `${nouns[kind]}_${current ? 'changed' : 'added'}` as const
  if (current && !changes) return event
  await catalogue.set(entry)
  act.audit(event, { detail: name, changes })
  return event
}

/** Applications that have it keep it. */
export async function removeEntry(act: Act, kind: CatalogueKind, name: string): Promise<void> {
  await catalogueStorage(act, kind).remove(name)
  act.audit(`${nouns[kind]}_removed`, { detail: name })
}

export function entryRevision({ name, audience, description }: CatalogueEntry): string {
  return revisionOf({ name, audience, description })
}
