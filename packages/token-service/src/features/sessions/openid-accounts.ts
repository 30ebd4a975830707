import { randomUUID } from 'node:crypto'
import { changesOf } from '../../storage/act.ts'
import { demoteDeveloper, LastAdministrator, promoteDeveloper } from '../people/acts.ts'
import type { OpenidProviderSettings } from '../people/openid-provider-settings.ts'
import type { ServiceContext } from '../context.ts'
import type { Actor } from '../../storage/audit-storage.ts'
import { developerStorage, NameTaken } from '../people/storage.ts'
import type { Developer } from '../../storage/developer.ts'
import { sessionStorage } from './storage.ts'
import type { DeveloperRequest } from '../../portal/page-routes.ts'
import { actorOf, personOf } from './session.ts'
import { describeField, fieldError } from '../../portal/layout/parse-form.ts'
import { developerName, rejectLookalike } from './developer-name.ts'
import type { Person } from './openid-provider.ts'

export type Admission =
  | { readonly developer: Developer; readonly rejection?: undefined }
  | { readonly developer?: undefined; readonly rejection: string }

/** The developers that people at the provider are, by issuer and subject. */
export function createOpenidAccounts(
  { storage, perform, clock }: ServiceContext,
  { name: provider, issuer, nameClaim, administratorGroups, developerGroups }: OpenidProviderSettings,
) {
  const { developers } = storage
  const notAdmitted = `You are in no group at ${provider} that may use this portal.`

  async function changeRole(developer: Developer, administrator: boolean, by: Actor): Promise<boolean> {
    if (developer.administrator === administrator) return true
    try {
      const change = administrator ? promoteDeveloper : demoteDeveloper
      await perform(by, (act) => change(act, developer))
      return true
    } catch (error) {
      if (error instanceof LastAdministrator) return false
      throw error
    }
  }

  const endSessions = ({ id, name }: Developer, by: Actor) =>
    perform(by, async (act) => {
      await sessionStorage(act).closeAll(id)
      act.audit('sessions_ended', { detail: name })
    })

  async function join({ name, issuer, subject }: Person, administrator: boolean, address: string) {
    const parsed = developerName.safeParse(name ?? '', { error: describeField })
    if (!parsed.success) {
      const rejection = `${provider} states no name for you that can be used here (${nameClaim}). ${fieldError(parsed.error.issues[0]?.message ?? '')}`
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
      await perform(personOf({ developer, address }), async (act) => {
        await rejectLookalike(developer.name, developerStorage(act))
        const isNew = await developerStorage(act).joinByIdentity(developer, { issuer, subject })
        if (isNew)
          act.audit('developer_joined', { detail: issuer, changes: changesOf({ administrator, subject }) })
      })
    } catch (error) {
      if (!(error instanceof NameTaken)) throw error
      const rejection = `An account named “${developer.name}”, or with a name that looks like it, exists already. If it is yours, log in to it and link your account at ${provider} to it. Otherwise, ask an administrator to remove it, or change your name at ${provider}.`
      return { rejection }
    }
    // Another request may have been faster.
    return { developer: (await developers.findByIdentity({ issuer, subject })) ?? developer }
  }

  function roleOf({ groups }: Person): { readonly administrator: boolean } | undefined {
    const isMember = (of: readonly string[]) => of.some((group) => groups.includes(group))
    const administrator = isMember(administratorGroups)
    return administrator || developerGroups === '*' || isMember(developerGroups)
      ? { administrator }
      : undefined
  }

  /** Finds or creates the developer; the groups decide the role, each time. */
  async function admit(person: Person, address: string): Promise<Admission> {
    const role = roleOf(person)
    const known = await developers.findByIdentity(person)
    const by: Actor = { actorType: 'service', actor: provider, address }
    if (!role) {
      if (known) {
        await endSessions(known, by)
        await changeRole(known, false, by)
      }
      return { rejection: notAdmitted }
    }
    const { administrator } = role
    if (!known) return join(person, administrator, address)
    if (administratorGroups.length === 0) return { developer: known }
    if (await changeRole(known, administrator, by)) return { developer: { ...known, administrator } }
    await endSessions(known, by)
    return {
      rejection: `You are no longer in a group of administrators at ${provider}, but the last administrator here. Somebody of such a group must log in first.`,
    }
  }

  /** Links the person's account at the provider; returns why not. */
  async function link(person: Person, request: DeveloperRequest): Promise<string | undefined> {
    const { developer } = request
    const { issuer, subject } = person
    if (!roleOf(person)) return notAdmitted
    return perform(actorOf(request), async (act) => {
      const own = await developerStorage(act).identities(developer.id)
      const linked = own.find((identity) => identity.issuer === issuer)
      if (linked?.subject === subject) return undefined
      if (linked) return `Another account at ${provider} is linked already. Unlink it first.`
      if (!(await developerStorage(act).addIdentity(developer.id, { issuer, subject })))
        return `Somebody else here logs in with this account at ${provider}. Ask an administrator to remove them first.`
      act.audit('identity_linked', { detail: issuer, changes: changesOf({ subject }) })
      return undefined
    })
  }

  /** Ends the sessions that began with the account at the provider, too. */
  const unlink = (request: DeveloperRequest) =>
    perform(actorOf(request), async (act) => {
      const own = await developerStorage(act).identities(request.developer.id)
      for (const identity of own.filter((each) => each.issuer === issuer)) {
        await developerStorage(act).removeIdentity(request.developer.id, identity)
        await sessionStorage(act).closeOfProvider(identity)
        act.audit('identity_unlinked', {
          detail: issuer,
          changes: changesOf({ subject: undefined }, { subject: identity.subject }),
        })
      }
    })

  return { admit, link, unlink }
}
