import { randomUUID } from 'node:crypto'
import { changesOf } from '../../clients/acts.ts'
import { LastAdministrator } from '../../clients/developer-registry.ts'
import type { OpenidProviderSettings } from '../../clients/openid-provider-options.ts'
import type { ServiceContext } from '../../oauth/service-context.ts'
import type { Actor } from '../../storage/audit-storage.ts'
import { NameTaken, type Developer } from '../../storage/developer-storage.ts'
import { actorOf } from './actor.ts'
import { developerName, rejectLookalike } from './developer-name.ts'
import type { Person } from './openid-provider.ts'

export type Admission =
  | { readonly developer: Developer; readonly rejection?: undefined }
  | { readonly developer?: undefined; readonly rejection: string }

/** Finds or creates the developer that a person is, by issuer and subject; the groups decide the role, each time. */
export function createOpenidAccounts(
  { storage, act, developersFor, clock }: ServiceContext,
  { name: provider, nameClaim, administratorGroups, developerGroups }: OpenidProviderSettings,
) {
  const { developers } = storage

  async function changeRole(developer: Developer, administrator: boolean, by: Actor): Promise<boolean> {
    if (developer.administrator === administrator) return true
    try {
      await developersFor(by)[administrator ? 'promote' : 'demote'](developer)
      return true
    } catch (error) {
      if (error instanceof LastAdministrator) return false
      throw error
    }
  }

  const endSessions = ({ id, name }: Developer, by: Actor) =>
    act(by, async ({ sessions }, audit) => {
      await sessions.closeAll(id)
      audit('sessions_ended', { detail: name })
    })

  async function join({ name, issuer, subject }: Person, administrator: boolean, address: string) {
    const parsed = developerName.safeParse(name ?? '')
    if (!parsed.success) {
      const rejection = `${provider} states no name for you that can be used here (${nameClaim}). ${parsed.error.issues[0]?.message}`
      return { rejection }
    }
    const developer: Developer = {
      id: randomUUID(),
      name: parsed.data,
      passwordHash: '',
      administrator,
      createdAtMs: clock.now(),
    }
    try {
      await act(actorOf({ developer, address }), async (stored, audit) => {
        await rejectLookalike(developer.name, stored.developers)
        const isNew = await stored.developers.joinByIdentity(developer, { issuer, subject })
        if (isNew)
          audit('developer_joined', { detail: issuer, changes: changesOf({ administrator, subject }) })
      })
    } catch (error) {
      if (!(error instanceof NameTaken)) throw error
      const rejection = `An account named “${developer.name}”, or with a name that looks like it, exists already. Ask an administrator to remove it, or to change your name at ${provider}.`
      return { rejection }
    }
    // Another request may have been faster.
    return { developer: (await developers.findByIdentity({ issuer, subject })) ?? developer }
  }

  return async (person: Person, address: string): Promise<Admission> => {
    const isMember = (groups: readonly string[]) => groups.some((group) => person.groups.includes(group))
    const administrator = isMember(administratorGroups)
    const isAdmitted = administrator || developerGroups === '*' || isMember(developerGroups)
    const known = await developers.findByIdentity(person)
    const by: Actor = { actorType: 'service', actor: provider, address }
    if (!isAdmitted) {
      if (known) {
        await endSessions(known, by)
        await changeRole(known, false, by)
      }
      return { rejection: `You are in no group at ${provider} that may use this portal.` }
    }
    if (!known) return join(person, administrator, address)
    if (administratorGroups.length === 0) return { developer: known }
    if (await changeRole(known, administrator, by)) return { developer: { ...known, administrator } }
    await endSessions(known, by)
    return {
      rejection: `You are no longer in a group of administrators at ${provider}, but the last administrator here. Somebody of such a group must log in first.`,
    }
  }
}
