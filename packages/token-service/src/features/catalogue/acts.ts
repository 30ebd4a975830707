import { changesOf, type Audit } from '../../storage/act.ts'
import type { Scope } from './storage.ts'
import type { Transaction } from '../acts.ts'

/** Adds a scope to the catalogue, or changes its API and its description; an undefined one is removed. */
export async function setScope(
  scope: Scope,
  { scopes }: Pick<Transaction, 'scopes'>,
  audit: Audit,
): Promise<'scope_added' | 'scope_changed'> {
  const { name, audience, description } = scope
  const current = (await scopes.listScopes()).find((each) => each.name === name)
  const changes = changesOf({ audience, description }, current)
  const event = current ? 'scope_changed' : 'scope_added'
  if (current && !changes) return event
  await scopes.set(scope)
  audit(event, { detail: name, changes })
  return event
}
