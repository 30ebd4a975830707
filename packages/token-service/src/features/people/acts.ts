import { randomBytes } from 'node:crypto'
import { developerStorage, type DeveloperStorage } from './storage.ts'
import type { Developer } from '../../storage/developer.ts'
import { digest } from '../../runtime/digest.ts'
import { unifiedName } from '../../runtime/lookalikes.ts'
import { NotFoundError, UsageError } from '../../runtime/usage-error.ts'
import { changesOf, type Act } from '../../storage/act.ts'
import type { AuditEventName } from '../../storage/audit-event-names.ts'

/** The service would have no administrator left. */
export class LastAdministrator extends UsageError {
  constructor() {
    super(
      'The last administrator cannot be removed, demoted or blocked. Make another developer an administrator first.',
    )
  }
}

/** @throws {@link NotFoundError} if no developer of the portal has that name, in any case */
export async function findDeveloper(
  developers: Pick<DeveloperStorage, 'find'>,
  name: string,
): Promise<Developer> {
  const found = await developers.find(unifiedName(name))
  if (!found) throw new NotFoundError(`The developer portal has no developer named "${name}".`)
  return found
}

/** Makes the developer an administrator, at once. */
export async function promoteDeveloper(act: Act, developer: Developer): Promise<void> {
  await setAdministrator(act, 'developer_promoted', developer, true)
}

/**
 * Ends the links that the administrator created.
 *
 * @throws {@link LastAdministrator} if there is no other one
 */
export async function demoteDeveloper(act: Act, developer: Developer): Promise<void> {
  await setAdministrator(act, 'developer_demoted', developer, false)
  await withdrawLinks(act, developer.id)
}

async function setAdministrator(
  act: Act,
  event: AuditEventName,
  { id, name }: Developer,
  administrator: boolean,
): Promise<void> {
  if (!(await developerStorage(act).setAdministrator(id, administrator))) throw new LastAdministrator()
  act.audit(event, { detail: name, changes: changesOf({ administrator }, { administrator: !administrator }) })
}

/**
 * Ends the developer's sessions, and the links that the developer created, too; projects remain.
 *
 * @throws {@link LastAdministrator} if there is no other one
 */
export async function removeDeveloper(act: Act, { id, name }: Developer): Promise<void> {
  if (!(await developerStorage(act).remove(id))) throw new LastAdministrator()
  act.audit('developer_removed', { detail: name })
  await withdrawLinks(act, id)
}

/**
 * Ends the developer's sessions and links, and the password: a stolen device can do nothing any more. The developer logs in again with
 * a link, or through the OpenID provider.
 *
 * @throws {@link LastAdministrator} if there is no other one
 */
export async function blockDeveloper(act: Act, { id, name }: Developer): Promise<void> {
  if (!(await developerStorage(act).block(id))) throw new LastAdministrator()
  act.audit('sessions_ended', { detail: name })
  act.audit('password_blocked', { detail: name })
  await withdrawLinks(act, id)
}

/** With them, somebody could still add developers, or log in as another administrator. */
async function withdrawLinks(act: Act, creatorId: string): Promise<void> {
  const invitations = await developerStorage(act).withdrawLinksOf(creatorId)
  for (let each = 0; each < invitations; each += 1) act.audit('invitation_withdrawn')
}

// A link that is sent to somebody else may be opened days later.
const invitationMs = 7 * 86_400_000
const shortLinkMs = 15 * 60_000

/** The secret of a link that can be opened once, and what is stored of it. */
function createLink({ clock }: Act, lifetimeMs: number) {
  const token = randomBytes(32).toString('base64url')
  return { token, link: { hash: digest(token), expiresAtMs: clock.now() + lifetimeMs } }
}

export interface NewInvitation {
  /** The digest of its secret. */
  readonly id: string
  readonly token: string
}

/** For a new developer, valid for 7 days; or for the first one, who becomes the administrator, valid for 15 minutes. */
export async function inviteDeveloper(
  act: Act,
  {
    administrator,
    name,
  }: {
    readonly administrator: boolean
    /** Whom it is for. */
    readonly name?: string | undefined
  },
): Promise<NewInvitation> {
  const { token, link } = createLink(act, administrator ? shortLinkMs : invitationMs)
  await developerStorage(act).invite({ ...link, administrator, name, createdBy: act.by.actorId })
  act.audit('developer_invited', { detail: name, changes: changesOf({ administrator }) })
  return { id: link.hash, token }
}

/** @throws {@link NotFoundError} if it has been used or withdrawn, or has expired */
export async function withdrawInvitation(act: Act, id: string): Promise<void> {
  if (!(await developerStorage(act).withdrawInvitation(id))) {
    throw new NotFoundError('There is no such invitation: it was used or withdrawn, or has expired.')
  }
  act.audit('invitation_withdrawn')
}

/** Returns the secret of a link for a developer who forgot the password, valid for 15 minutes. */
export async function createPasswordLink(
  act: Act,
  { id: developerId, name }: Pick<Developer, 'id' | 'name'>,
): Promise<string> {
  const { token, link } = createLink(act, shortLinkMs)
  await developerStorage(act).addPasswordLink({ ...link, developerId, createdBy: act.by.actorId })
  act.audit('password_link_created', { detail: name })
  return token
}
