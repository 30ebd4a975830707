import { randomBytes } from 'node:crypto'
import { digest } from '../../runtime/digest.ts'
import type { Actor } from '../../storage/audit-storage.ts'
import type { Developer } from './storage.ts'
import { NotFoundError } from '../../runtime/usage-error.ts'
import { changesOf } from '../../storage/act.ts'
import type { RegistryContext } from '../acts.ts'

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
