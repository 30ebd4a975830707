import type { Selectable } from 'kysely'
import {
  NameTaken,
  type Developer,
  type DeveloperStorage,
  type Invitation,
  type SessionStorage,
} from '../developer-storage.ts'
import { nameColumns } from '../folded-name.ts'
import type { Schema } from '../schema.ts'
import { countDeleted, inTransaction, type Database, type Query } from './database.ts'

export function createSqlDevelopers({ query }: Database): DeveloperStorage {
  async function isLastAdministrator(transaction: Query, id: string): Promise<boolean> {
    const rows = await transaction
      .selectFrom('developers')
      .select('id')
      .where('administrator', '=', 1)
      .execute()
    return rows.length === 1 && rows[0]!.id === id
  }

  async function add(transaction: Query, developer: Developer): Promise<void> {
    const { numInsertedOrUpdatedRows } = await transaction
      .insertInto('developers')
      .values({
        ...developer,
        ...nameColumns(developer.name),
        administrator: Number(developer.administrator),
      })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirstOrThrow()
    if (numInsertedOrUpdatedRows === 0n) throw new NameTaken('This name is taken.')
  }

  async function find(name: string): Promise<Developer | undefined> {
    const row = await query.selectFrom('developers').selectAll().where('name', '=', name).executeTakeFirst()
    return row && toDeveloper(row)
  }

  return {
    async list() {
      const rows = await query.selectFrom('developers').selectAll().orderBy('createdAtMs').execute()
      return rows.map(toDeveloper)
    },
    find,
    join: (developer, invitationHash, nowMs) =>
      inTransaction(query, async (transaction) => {
        const administrator = Number(developer.administrator)
        const used = await transaction
          .deleteFrom('invitations')
          .where('hash', '=', invitationHash)
          .where('expiresAtMs', '>', nowMs)
          .where('administrator', '=', administrator)
          .executeTakeFirstOrThrow()
        if (used.numDeletedRows === 0n) return false
        if (developer.administrator) {
          const others = transaction.selectFrom('developers').select('id').where('administrator', '=', 1)
          if (await others.executeTakeFirst()) return false
        }
        await add(transaction, developer)
        return true
      }),
    async findByIdentity({ issuer, subject }) {
      const row = await query
        .selectFrom('identities')
        .innerJoin('developers', 'developers.id', 'identities.developerId')
        .selectAll('developers')
        .where('issuer', '=', issuer)
        .where('subject', '=', subject)
        .executeTakeFirst()
      return row && toDeveloper(row)
    },
    joinByIdentity: (developer, { issuer, subject }) =>
      inTransaction(query, async (transaction) => {
        const known = transaction
          .selectFrom('identities')
          .select('developerId')
          .where('issuer', '=', issuer)
          .where('subject', '=', subject)
        if (await known.executeTakeFirst()) return false
        await add(transaction, developer)
        await transaction
          .insertInto('identities')
          .values({ issuer, subject, developerId: developer.id })
          .execute()
        return true
      }),
    identities: (developerId) =>
      query
        .selectFrom('identities')
        .select(['issuer', 'subject'])
        .where('developerId', '=', developerId)
        .execute(),
    async addIdentity(developerId, { issuer, subject }) {
      const { numInsertedOrUpdatedRows } = await query
        .insertInto('identities')
        .values({ issuer, subject, developerId })
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirstOrThrow()
      return numInsertedOrUpdatedRows !== 0n
    },
    async removeIdentity(developerId, { issuer, subject }) {
      await query
        .deleteFrom('identities')
        .where('developerId', '=', developerId)
        .where('issuer', '=', issuer)
        .where('subject', '=', subject)
        .execute()
    },
    async changePassword(id, passwordHash) {
      await inTransaction(query, async (transaction) => {
        await setPassword(transaction, id, passwordHash)
        await transaction.deleteFrom('passwordLinks').where('developerId', '=', id).execute()
      })
    },
    setAdministrator: (id, administrator) =>
      inTransaction(query, async (transaction) => {
        if (!administrator && (await isLastAdministrator(transaction, id))) return false
        const { numUpdatedRows } = await transaction
          .updateTable('developers')
          .set({ administrator: Number(administrator) })
          .where('id', '=', id)
          .executeTakeFirstOrThrow()
        return numUpdatedRows > 0n
      }),
    remove: (id) =>
      inTransaction(query, async (transaction) => {
        if (await isLastAdministrator(transaction, id)) return false
        await transaction.deleteFrom('sessions').where('developerId', '=', id).execute()
        await transaction.deleteFrom('memberships').where('developerId', '=', id).execute()
        await transaction.deleteFrom('developers').where('id', '=', id).execute()
        return true
      }),
    async invite(invitation) {
      const administrator = Number(invitation.administrator)
      await query
        .insertInto('invitations')
        .values({ ...invitation, administrator })
        .execute()
    },
    async findInvitation(hash, nowMs) {
      const row = await query
        .selectFrom('invitations')
        .selectAll()
        .where('hash', '=', hash)
        .where('expiresAtMs', '>', nowMs)
        .executeTakeFirst()
      return row && toInvitation(row)
    },
    async invitations(nowMs) {
      const rows = await query
        .selectFrom('invitations')
        .selectAll()
        .where('expiresAtMs', '>', nowMs)
        .orderBy('expiresAtMs')
        .execute()
      return rows.map(toInvitation)
    },
    async withdrawInvitation(hash) {
      return (await countDeleted(query.deleteFrom('invitations').where('hash', '=', hash))) > 0
    },
    async withdrawLinksOf(creatorId) {
      await query.deleteFrom('passwordLinks').where('createdBy', '=', creatorId).execute()
      return countDeleted(query.deleteFrom('invitations').where('createdBy', '=', creatorId))
    },
    async addProject(developerId, projectId) {
      await query
        .insertInto('memberships')
        .values({ developerId, projectId })
        .onConflict((conflict) => conflict.doNothing())
        .execute()
    },
    async projectIds(developerId) {
      const rows = await query
        .selectFrom('memberships')
        .select('projectId')
        .where('developerId', '=', developerId)
        .execute()
      return rows.map(({ projectId }) => projectId)
    },
    async ownerIds(projectId) {
      const rows = await query
        .selectFrom('memberships')
        .select('developerId')
        .where('projectId', '=', projectId)
        .execute()
      return rows.map(({ developerId }) => developerId)
    },
    async removeProject(developerId, projectId) {
      await query
        .deleteFrom('memberships')
        .where('developerId', '=', developerId)
        .where('projectId', '=', projectId)
        .execute()
    },
    async addPasswordLink(link) {
      await query.insertInto('passwordLinks').values(link).execute()
    },
    async findPasswordLink(hash, nowMs) {
      const row = await query
        .selectFrom('passwordLinks')
        .innerJoin('developers', 'developers.id', 'passwordLinks.developerId')
        .selectAll('developers')
        .where('hash', '=', hash)
        .where('expiresAtMs', '>', nowMs)
        .executeTakeFirst()
      return row && toDeveloper(row)
    },
    usePasswordLink: (hash, passwordHash, nowMs) =>
      inTransaction(query, async (transaction) => {
        const used = await transaction
          .deleteFrom('passwordLinks')
          .where('hash', '=', hash)
          .where('expiresAtMs', '>', nowMs)
          .returning('developerId')
          .executeTakeFirst()
        if (!used) return undefined
        const { developerId } = used
        await transaction.deleteFrom('passwordLinks').where('developerId', '=', developerId).execute()
        await transaction.deleteFrom('sessions').where('developerId', '=', developerId).execute()
        if (passwordHash !== undefined) await setPassword(transaction, developerId, passwordHash)
        const developer = transaction.selectFrom('developers').selectAll().where('id', '=', developerId)
        return toDeveloper(await developer.executeTakeFirstOrThrow())
      }),
    purge: (nowMs) =>
      countDeleted(
        query.deleteFrom('invitations').where('expiresAtMs', '<=', nowMs),
        query.deleteFrom('passwordLinks').where('expiresAtMs', '<=', nowMs),
      ),
  }
}

async function setPassword(query: Query, id: string, passwordHash: string): Promise<void> {
  await query.updateTable('developers').set({ passwordHash }).where('id', '=', id).execute()
}

export function toDeveloper(developer: Selectable<Schema['developers']>): Developer {
  const { foldedName: _folded, sortName: _sort, ...row } = developer
  return { ...row, administrator: row.administrator === 1 }
}

function toInvitation({ createdBy, name, ...row }: Selectable<Schema['invitations']>): Invitation {
  const known = { ...(name !== null && { name }), ...(createdBy !== null && { createdBy }) }
  return { ...row, administrator: row.administrator === 1, ...known }
}

export function createSqlSessions({ query }: Database): SessionStorage {
  return {
    async open({ provider, ...session }) {
      await query
        .insertInto('sessions')
        .values({ ...session, ...provider })
        .execute()
    },
    async find(hash, nowMs) {
      const row = await query
        .selectFrom('sessions')
        .innerJoin('developers', 'developers.id', 'sessions.developerId')
        .selectAll('developers')
        .where('hash', '=', hash)
        .where('expiresAtMs', '>', nowMs)
        .executeTakeFirst()
      return row && toDeveloper(row)
    },
    async list(developerId, nowMs) {
      const rows = await query
        .selectFrom('sessions')
        .select(['hash', 'developerId', 'expiresAtMs', 'address', 'browser'])
        .where('developerId', '=', developerId)
        .where('expiresAtMs', '>', nowMs)
        .orderBy('expiresAtMs', 'desc')
        .execute()
      return rows.map(({ address, browser, ...session }) => ({
        ...session,
        ...(address !== null && { address }),
        ...(browser !== null && { browser }),
      }))
    },
    async findIdToken(hash) {
      const row = await query
        .selectFrom('sessions')
        .select('idToken')
        .where('hash', '=', hash)
        .executeTakeFirst()
      return row?.idToken ?? undefined
    },
    async findExpiry(hash) {
      const session = query.selectFrom('sessions').select('expiresAtMs').where('hash', '=', hash)
      return (await session.executeTakeFirst())?.expiresAtMs
    },
    async close(hash) {
      await query.deleteFrom('sessions').where('hash', '=', hash).execute()
    },
    async closeAll(developerId) {
      await query.deleteFrom('sessions').where('developerId', '=', developerId).execute()
    },
    async closeOfProvider({ issuer, subject, sid }) {
      const closed = await query
        .deleteFrom('sessions')
        .where('issuer', '=', issuer)
        .$if(subject !== undefined, (sessions) => sessions.where('subject', '=', subject!))
        .$if(sid !== undefined, (sessions) => sessions.where('sid', '=', sid!))
        .returning('developerId')
        .execute()
      if (closed.length === 0) return []
      const ids = closed.map(({ developerId }) => developerId)
      const named = query.selectFrom('developers').select('name').where('id', 'in', ids).orderBy('name')
      return (await named.execute()).map(({ name }) => name)
    },
    purge: (nowMs) => countDeleted(query.deleteFrom('sessions').where('expiresAtMs', '<=', nowMs)),
  }
}
