import { UsageError } from '../../runtime/usage-error.ts'
import type { Developer } from './storage.ts'
import type { DeveloperStorage } from './storage.ts'
import type { Actor } from '../../storage/audit-storage.ts'
import { changesOf, type Audit } from '../../storage/act.ts'
import type { RegistryContext } from '../acts.ts'

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
  /** Ends the links that the administrator created. Throws {@link LastAdministrator} if there is no other one. */
  demote(developer: Developer): Promise<void>
  /** Ends the developer's sessions, and the links that the developer created, too; projects remain. Throws {@link LastAdministrator}. */
  remove(developer: Developer): Promise<void>
}

export function createDeveloperRegistry({ act }: Pick<RegistryContext, 'act'>, by: Actor): DeveloperRegistry {
  const setAdministrator = (event: string, { id, name }: Developer, administrator: boolean) =>
    act(by, async ({ developers }, audit) => {
      if (!(await developers.setAdministrator(id, administrator))) throw new LastAdministrator()
      audit(event, { detail: name, changes: changesOf({ administrator }, { administrator: !administrator }) })
      if (!administrator) await withdrawLinks(id, developers, audit)
    })
  // With them, somebody could still add developers, or log in as another administrator.
  const withdrawLinks = async (creatorId: string, developers: DeveloperStorage, audit: Audit) => {
    const invitations = await developers.withdrawLinksOf(creatorId)
    for (let each = 0; each < invitations; each += 1) audit('invitation_withdrawn')
  }
  return {
    promote: (developer) => setAdministrator('developer_promoted', developer, true),
    demote: (developer) => setAdministrator('developer_demoted', developer, false),
    remove: ({ id, name }) =>
      act(by, async ({ developers }, audit) => {
        if (!(await developers.remove(id))) throw new LastAdministrator()
        audit('developer_removed', { detail: name })
        await withdrawLinks(id, developers, audit)
      }),
  }
}
