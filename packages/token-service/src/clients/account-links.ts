import { randomBytes } from 'node:crypto'
import type { Clock } from '../runtime/clock.ts'
import { digest } from '../runtime/digest.ts'
import type { Developer } from '../storage/developer-storage.ts'
import type { Storage } from '../storage/storage.ts'

// A link that is sent to somebody else may be opened days later.
const invitationMs = 7 * 86_400_000
const shortLinkMs = 15 * 60_000

/** Creates the secrets in the portal's one-time links: an invitation is valid for 7 days, the others for 15 minutes. */
export interface AccountLinks {
  /** For a new developer. */
  createInvitation(options: { readonly administrator: boolean }): Promise<string>
  /** For the first developer, who becomes the administrator; `undefined` once there is one. */
  createSetupInvitation(): Promise<string | undefined>
  /** For a developer who forgot the password. */
  createPasswordReset(developer: Pick<Developer, 'id'>): Promise<string>
}

export function createAccountLinks(storage: Pick<Storage, 'developers'>, clock: Clock): AccountLinks {
  const { developers } = storage
  const createLink = (lifetimeMs: number) => {
    const token = randomBytes(32).toString('base64url')
    return { token, hash: digest(token), expiresAtMs: clock.now() + lifetimeMs }
  }
  const links: AccountLinks = {
    async createInvitation({ administrator }) {
      const { token, ...link } = createLink(administrator ? shortLinkMs : invitationMs)
      await developers.invite({ ...link, administrator })
      return token
    },
    async createSetupInvitation() {
      return (await developers.list()).length > 0
        ? undefined
        : links.createInvitation({ administrator: true })
    },
    async createPasswordReset({ id }) {
      const { token, ...link } = createLink(shortLinkMs)
      await developers.addPasswordLink({ ...link, developerId: id })
      return token
    },
  }
  return links
}
