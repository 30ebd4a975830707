import type {
  Developer,
  DeveloperStorage,
  Invitation,
  PasswordLink,
  Session,
  SessionStorage,
} from '../developer-storage.ts'

/** The portal's developers and their sessions, kept in this process. */
export function createMemoryDevelopers(): {
  developers: DeveloperStorage
  sessions: SessionStorage
  /** Removes the project from all developers. */
  forgetProject: (projectId: string) => void
} {
  const developers = new Map<string, Developer>()
  const invitations = new Map<string, Invitation>()
  const passwordLinks = new Map<string, PasswordLink>()
  const projects = new Map<string, Set<string>>()
  const sessions = new Map<string, Session>()

  const all = () => [...developers.values()]
  const named = (name: string) => all().find((developer) => developer.name === name)
  const openInvitation = (hash: string, nowMs: number) => {
    const invitation = invitations.get(hash)
    return invitation && invitation.expiresAtMs > nowMs ? invitation : undefined
  }

  const linkedDeveloper = (hash: string, nowMs: number) => {
    const link = passwordLinks.get(hash)
    return link && link.expiresAtMs > nowMs ? developers.get(link.developerId) : undefined
  }
  const isLastAdministrator = (id: string) => {
    const administrators = all().filter(({ administrator }) => administrator)
    return administrators.length === 1 && administrators[0]!.id === id
  }
  const closeAll = (developerId: string) => forget(sessions, developerId)

  return {
    forgetProject(projectId) {
      for (const ids of projects.values()) ids.delete(projectId)
    },
    developers: {
      list: async () => all(),
      find: async (name) => named(name),
      async join(developer, invitationHash, nowMs) {
        const late = developer.administrator && all().some(({ administrator }) => administrator)
        if (late || openInvitation(invitationHash, nowMs)?.administrator !== developer.administrator)
          return 'void'
        if (named(developer.name)) return 'name_taken'
        invitations.delete(invitationHash)
        developers.set(developer.id, developer)
        return 'joined'
      },
      async changePassword(id, passwordHash) {
        const developer = developers.get(id)
        if (developer) developers.set(id, { ...developer, passwordHash })
        forget(passwordLinks, id)
      },
      async setAdministrator(id, administrator) {
        const developer = developers.get(id)
        if (!developer || (!administrator && isLastAdministrator(id))) return false
        developers.set(id, { ...developer, administrator })
        return true
      },
      async remove(id) {
        if (isLastAdministrator(id)) return false
        developers.delete(id)
        projects.delete(id)
        forget(passwordLinks, id)
        closeAll(id)
        return true
      },
      async invite(invitation) {
        invitations.set(invitation.hash, invitation)
      },
      findInvitation: async (hash, nowMs) => openInvitation(hash, nowMs),
      async addProject(developerId, projectId) {
        projects.set(developerId, new Set([...(projects.get(developerId) ?? []), projectId]))
      },
      projectIds: async (developerId) => [...(projects.get(developerId) ?? [])],
      memberships: async () =>
        [...projects].flatMap(([developerId, ids]) =>
          [...ids].map((projectId) => ({ developerId, projectId })),
        ),
      async removeProject(developerId, projectId) {
        projects.get(developerId)?.delete(projectId)
      },
      async addPasswordLink(link) {
        passwordLinks.set(link.hash, link)
      },
      findPasswordLink: async (hash, nowMs) => linkedDeveloper(hash, nowMs),
      async usePasswordLink(hash, passwordHash, nowMs) {
        const developer = linkedDeveloper(hash, nowMs)
        if (!developer) return undefined
        const changed = { ...developer, passwordHash }
        developers.set(developer.id, changed)
        forget(passwordLinks, developer.id)
        closeAll(developer.id)
        return changed
      },
      purge: async (nowMs) => purge(invitations, nowMs) + purge(passwordLinks, nowMs),
    },
    sessions: {
      async open(session) {
        sessions.set(session.hash, session)
      },
      async find(hash, nowMs) {
        const session = sessions.get(hash)
        return session && session.expiresAtMs > nowMs ? developers.get(session.developerId) : undefined
      },
      async close(hash) {
        sessions.delete(hash)
      },
      closeAll: async (developerId) => closeAll(developerId),
      purge: async (nowMs) => purge(sessions, nowMs),
    },
  }
}

function forget(entries: Map<string, { readonly developerId: string }>, developerId: string): void {
  for (const [hash, entry] of entries) if (entry.developerId === developerId) entries.delete(hash)
}

function purge(entries: Map<string, { readonly expiresAtMs: number }>, nowMs: number): number {
  const before = entries.size
  for (const [hash, { expiresAtMs }] of entries) if (expiresAtMs <= nowMs) entries.delete(hash)
  return before - entries.size
}
