import { and, asc, eq, gt, lte } from 'drizzle-orm'
import type { DeveloperStorage } from '../developer-storage.ts'
import type { Database } from './database.ts'
import { developers, invitations, memberships, passwordLinks, sessions } from './schema.ts'

class NotJoined extends Error {}

export function createSqlDevelopers(database: Database): DeveloperStorage {
  const isOpen = (hash: string, nowMs: number) =>
    and(eq(invitations.hash, hash), gt(invitations.expiresAtMs, nowMs))
  const isGood = (hash: string, nowMs: number) =>
    and(eq(passwordLinks.hash, hash), gt(passwordLinks.expiresAtMs, nowMs))

  return {
    list: async () => await database.select().from(developers).orderBy(asc(developers.createdAtMs)),
    async find(name) {
      const [developer] = await database.select().from(developers).where(eq(developers.name, name))
      return developer
    },
    async join(developer, invitationHash, nowMs) {
      try {
        return await database.transaction(async (transaction) => {
          // The row is locked by its deletion: who comes second waits, and finds it gone.
          const used = await transaction
            .delete(invitations)
            .where(and(isOpen(invitationHash, nowMs), eq(invitations.administrator, developer.administrator)))
            .returning()
          if (used.length === 0) return 'void'
          const joined = await transaction
            .insert(developers)
            .values(developer)
            .onConflictDoNothing()
            .returning({ id: developers.id })
          if (joined.length === 0) throw new NotJoined()
          return 'joined'
        })
      } catch (error) {
        if (!(error instanceof NotJoined)) throw error
        const taken = await database.select().from(developers).where(eq(developers.name, developer.name))
        return taken.length > 0 && !developer.administrator ? 'name_taken' : 'void'
      }
    },
    async changePassword(id, passwordHash) {
      await database.update(developers).set({ passwordHash }).where(eq(developers.id, id))
    },
    async remove(id) {
      await database.transaction(async (transaction) => {
        await transaction.delete(sessions).where(eq(sessions.developerId, id))
        await transaction.delete(memberships).where(eq(memberships.developerId, id))
        await transaction.delete(developers).where(eq(developers.id, id))
      })
    },
    async invite(invitation) {
      await database.insert(invitations).values(invitation)
    },
    async findInvitation(hash, nowMs) {
      const [invitation] = await database.select().from(invitations).where(isOpen(hash, nowMs))
      return invitation
    },
    async addProject(developerId, projectId) {
      await database.insert(memberships).values({ developerId, projectId }).onConflictDoNothing()
    },
    async projectIds(developerId) {
      const rows = await database.select().from(memberships).where(eq(memberships.developerId, developerId))
      return rows.map(({ projectId }) => projectId)
    },
    async addPasswordLink(link) {
      await database.insert(passwordLinks).values(link)
    },
    async findPasswordLink(hash, nowMs) {
      const [found] = await database
        .select({ developer: developers })
        .from(passwordLinks)
        .innerJoin(developers, eq(developers.id, passwordLinks.developerId))
        .where(isGood(hash, nowMs))
      return found?.developer
    },
    usePasswordLink: async (hash, passwordHash, nowMs) =>
      await database.transaction(async (transaction) => {
        const [used] = await transaction.delete(passwordLinks).where(isGood(hash, nowMs)).returning()
        if (!used) return undefined
        const { developerId } = used
        await transaction.delete(passwordLinks).where(eq(passwordLinks.developerId, developerId))
        await transaction.delete(sessions).where(eq(sessions.developerId, developerId))
        const changed = transaction.update(developers).set({ passwordHash })
        const [developer] = await changed.where(eq(developers.id, developerId)).returning()
        return developer
      }),
    async purge(nowMs) {
      const ended = await Promise.all(
        [invitations, passwordLinks].map((links) =>
          database.delete(links).where(lte(links.expiresAtMs, nowMs)).returning({ hash: links.hash }),
        ),
      )
      return ended.flat().length
    },
  }
}
