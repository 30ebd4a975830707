import { randomBytes } from 'node:crypto'
import type { RegistryContext } from '../acts.ts'
import type { Developer, DeveloperStorage } from './storage.ts'
import { digest } from '../../runtime/digest.ts'
import { NotFoundError, UsageError } from '../../runtime/usage-error.ts'
import { type Audit, changesOf } from '../../storage/act.ts'
import type { Actor } from '../../storage/audit-storage.ts'

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

// A link that is sent to somebody else may be opened days later.
const invitationMs = 7 * 86_400_000
const shortLinkMs = 15 * 60_000

export interface Invitation {
  /** The digest of its secret. */
  readonly id: string
  readonly token: string
}

/** Creates the secrets in the portal's one-time links: an invitation is valid for 7 days, the others for 15 minutes. */
export interface AccountLinks {
  /** For a new developer, or the first one, who becomes the administrator. */
  createInvitation(options: {
    readonly administrator: boolean
    /** Whom it is for. */
    readonly name?: string | undefined
  }): Promise<Invitation>
  /** Throws a `NotFoundError` if it has been used or withdrawn. */
  withdrawInvitation(id: string): Promise<void>
  /** For a developer who forgot the password. */
  createPasswordReset(developer: Pick<Developer, 'id' | 'name'>): Promise<string>
}

export function createAccountLinks(
  { act, clock }: Pick<RegistryContext, 'act' | 'clock'>,
  by: Actor,
): AccountLinks {
  const createLink = (lifetimeMs: number) => {
    const token = randomBytes(32).toString('base64url')
    return { token, link: { hash: digest(token), expiresAtMs: clock.now() + lifetimeMs } }
  }
  return {
    createInvitation: ({ administrator, name }) =>
      act(by, async ({ developers }, audit) => {
        const { token, link } = createLink(administrator ? shortLinkMs : invitationMs)
        await developers.invite({ ...link, administrator, name, createdBy: by.actorId })
        audit('developer_invited', { detail: name, changes: changesOf({ administrator }) })
        return { id: link.hash, token }
      }),
    withdrawInvitation: (id) =>
      act(by, async ({ developers }, audit) => {
        if (!(await developers.withdrawInvitation(id))) {
          throw new NotFoundError('There is no such invitation: it was used or withdrawn, or has expired.')
        }
        audit('invitation_withdrawn')
      }),
    createPasswordReset: ({ id: developerId, name }) =>
      act(by, async ({ developers }, audit) => {
        const { token, link } = createLink(shortLinkMs)
        await developers.addPasswordLink({ ...link, developerId, createdBy: by.actorId })
        audit('password_link_created', { detail: name })
        return token
      }),
  }
}
