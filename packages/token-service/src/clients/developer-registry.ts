import { UsageError } from '../runtime/usage-error.ts'
import type { Developer } from '../storage/developer-storage.ts'
import type { Actor, ApplicationRegistryContext } from './application-registry.ts'

/** The service would have no administrator left. */
export class LastAdministrator extends UsageError {
  constructor() {
    super(
      'The last administrator cannot be removed or demoted. Make another developer an administrator first.',
    )
  }
}

/** Changes developers of the portal; each change is written to the audit log. */
export interface DeveloperRegistry {
  /** Makes the developer an administrator, at once. */
  promote(developer: Developer): Promise<void>
  /** Throws {@link LastAdministrator} if there is no other one. */
  demote(developer: Developer): Promise<void>
  /** Ends the developer's sessions too; projects remain. Throws {@link LastAdministrator}. */
  remove(developer: Developer): Promise<void>
}

export function createDeveloperRegistry(
  { storage: { developers }, activity }: Pick<ApplicationRegistryContext, 'storage' | 'activity'>,
  by: Actor,
): DeveloperRegistry {
  const change = (event: string, run: (id: string) => Promise<boolean>) => async (developer: Developer) => {
    if (!(await run(developer.id))) throw new LastAdministrator()
    activity.audit({ event, ...by, detail: developer.name })
  }
  return {
    promote: change('developer_promoted', (id) => developers.setAdministrator(id, true)),
    demote: change('developer_demoted', (id) => developers.setAdministrator(id, false)),
    remove: change('developer_removed', (id) => developers.remove(id)),
  }
}
