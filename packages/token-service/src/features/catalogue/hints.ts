import type { CatalogueEntry } from './storage.ts'

/** What is said about products and scopes to those who choose them, by name. */
export function catalogueHints(entries: readonly CatalogueEntry[]): ReadonlyMap<string, string> {
  return new Map(
    entries.flatMap(({ name, audience, description }) => {
      const api = audience === undefined ? undefined : `Only in tokens for ${audience}`
      const hint = [description, api].filter((text) => text !== undefined).join('. ')
      return hint === '' ? [] : [[name, hint] as const]
    }),
  )
}
