import type { Selectable } from 'kysely'
import { UsageError } from '../../runtime/usage-error.ts'
import type { Developer } from '../../storage/developer.ts'
import { nameColumns } from '../../storage/folded-name.ts'
import type { Schema } from '../../storage/schema.ts'
import { countDeleted, inTransaction, type Database, type Query } from '../../storage/database.ts'

/** Who somebody is at an OpenID provider: never the e-mail address, which may belong to somebody else later. */
export interface Identity {
  readonly issuer: string
  readonly subject: string
}

/** A link with which somebody becomes a developer: its digest, never the link itself. `createdBy`: the ID of an administrator. */
export interface Invitation {
  readonly hash: string
  /** Whom it is for, as the administrator wrote it. */
  readonly name?: string | undefined
  readonly administrator: boolean
  readonly expiresAtMs: number
  readonly createdBy?: string | undefined
}

/** The same with which a developer who forgot the password sets another. */
export interface PasswordLink {
  readonly hash: string
  readonly developerId: string
  readonly expiresAtMs: number
  readonly createdBy?: string | undefined
}

/** Another developer has that name. */
export class NameTaken extends UsageError {}

export type DeveloperStorage = ReturnType<typeof developerStorage>

export function developerStorage({ query }: Database) {
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
    /** In the order in which they joined. */
    async list(): Promise<Developer[]> {
      const rows = await query.selectFrom('developers').selectAll().orderBy('createdAtMs').execute()
      return rows.map(toDeveloper)
    },
    find,
    async findById(id: string): Promise<Developer | undefined> {
      const row = await query.selectFrom('developers').selectAll().where('id', '=', id).executeTakeFirst()
      return row && toDeveloper(row)
    },
    /** Who owns a project, in alphabetical order. */
    async owners(projectId: string): Promise<Developer[]> {
      const rows = await query
        .selectFrom('memberships')
        .innerJoin('developers', 'developers.id', 'memberships.developerId')
        .selectAll('developers')
        .where('projectId', '=', projectId)
        .orderBy('sortName')
        .execute()
      return rows.map(toDeveloper)
    },
    /**
     * Uses up the invitation. `false`: it has been used, has expired, or is for the first administrator, and there is one
     * by now. Throws {@link NameTaken}.
     */
    join: (developer: Developer, invitationHash: string, nowMs: number): Promise<boolean> =>
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
    async hasAdministrator(): Promise<boolean> {
      const one = query.selectFrom('developers').select('id').where('administrator', '=', 1).limit(1)
      return (await one.executeTakeFirst()) !== undefined
    },
    async findByIdentity({ issuer, subject }: Identity): Promise<Developer | undefined> {
      const row = await query
        .selectFrom('identities')
        .innerJoin('developers', 'developers.id', 'identities.developerId')
        .selectAll('developers')
        .where('issuer', '=', issuer)
        .where('subject', '=', subject)
        .executeTakeFirst()
      return row && toDeveloper(row)
    },
    /** Adds a developer with that identity; `false` if there is one. Throws {@link NameTaken}. */
    joinByIdentity: (developer: Developer, { issuer, subject }: Identity): Promise<boolean> =>
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
    /** Those with which a developer logs in. */
    identities: (developerId: string): Promise<Identity[]> =>
      query
        .selectFrom('identities')
        .select(['issuer', 'subject'])
        .where('developerId', '=', developerId)
        .execute(),
    /** `false` if somebody has it. */
    async addIdentity(developerId: string, { issuer, subject }: Identity): Promise<boolean> {
      const { numInsertedOrUpdatedRows } = await query
        .insertInto('identities')
        .values({ issuer, subject, developerId })
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirstOrThrow()
      return numInsertedOrUpdatedRows !== 0n
    },
    async removeIdentity(developerId: string, { issuer, subject }: Identity): Promise<void> {
      await query
        .deleteFrom('identities')
        .where('developerId', '=', developerId)
        .where('issuer', '=', issuer)
        .where('subject', '=', subject)
        .execute()
    },
    /** Sets the password, and deletes the developer's password links. */
    async changePassword(id: string, passwordHash: string): Promise<void> {
      await inTransaction(query, async (transaction) => {
        await setPassword(transaction, id, passwordHash)
        await transaction.deleteFrom('passwordLinks').where('developerId', '=', id).execute()
      })
    },
    /** Makes the developer an administrator, or a developer again; `false` if there would be no administrator left. */
    setAdministrator: (id: string, administrator: boolean): Promise<boolean> =>
      inTransaction(query, async (transaction) => {
        if (!administrator && (await isLastAdministrator(transaction, id))) return false
        const { numUpdatedRows } = await transaction
          .updateTable('developers')
          .set({ administrator: Number(administrator) })
          .where('id', '=', id)
          .executeTakeFirstOrThrow()
        return numUpdatedRows > 0n
      }),
    /** Deletes the developer's sessions as well; projects remain. `false` if there would be no administrator left. */
    remove: (id: string): Promise<boolean> =>
      inTransaction(query, async (transaction) => {
        if (await isLastAdministrator(transaction, id)) return false
        await transaction.deleteFrom('sessions').where('developerId', '=', id).execute()
        await transaction.deleteFrom('memberships').where('developerId', '=', id).execute()
        await transaction.deleteFrom('developers').where('id', '=', id).execute()
        return true
      }),
    /** Deletes the developer's sessions, password and links to set one. `false` if no administrator could log in then. */
    block: (id: string): Promise<boolean> =>
      inTransaction(query, async (transaction) => {
        if (await isLastAdministrator(transaction, id)) return false
        await transaction.deleteFrom('sessions').where('developerId', '=', id).execute()
        await transaction.deleteFrom('passwordLinks').where('developerId', '=', id).execute()
        await setPassword(transaction, id, '')
        return true
      }),
    async invite(invitation: Invitation): Promise<void> {
      const administrator = Number(invitation.administrator)
      await query
        .insertInto('invitations')
        .values({ ...invitation, administrator })
        .execute()
    },
    async findInvitation(hash: string, nowMs: number): Promise<Invitation | undefined> {
      const row = await query
        .selectFrom('invitations')
        .selectAll()
        .where('hash', '=', hash)
        .where('expiresAtMs', '>', nowMs)
        .executeTakeFirst()
      return row && toInvitation(row)
    },
    /** Those that can still be used, the first to expire first. */
    async invitations(nowMs: number): Promise<Invitation[]> {
      const rows = await query
        .selectFrom('invitations')
        .selectAll()
        .where('expiresAtMs', '>', nowMs)
        .orderBy('expiresAtMs')
        .execute()
      return rows.map(toInvitation)
    },
    /** `false` if there is no such invitation. */
    async withdrawInvitation(hash: string): Promise<boolean> {
      return (await countDeleted(query.deleteFrom('invitations').where('hash', '=', hash))) > 0
    },
    /** Deletes the invitations and password links that this administrator created; returns how many invitations. */
    async withdrawLinksOf(creatorId: string): Promise<number> {
      await query.deleteFrom('passwordLinks').where('createdBy', '=', creatorId).execute()
      return countDeleted(query.deleteFrom('invitations').where('createdBy', '=', creatorId))
    },
    /** Adds the project to those of the developer. */
    async addProject(developerId: string, projectId: string): Promise<void> {
      await query
        .insertInto('memberships')
        .values({ developerId, projectId })
        .onConflict((conflict) => conflict.doNothing())
        .execute()
    },
    async projectIds(developerId: string): Promise<string[]> {
      const rows = await query
        .selectFrom('memberships')
        .select('projectId')
        .where('developerId', '=', developerId)
        .execute()
      return rows.map(({ projectId }) => projectId)
    },
    /** The IDs of its owners. */
    async ownerIds(projectId: string): Promise<string[]> {
      const rows = await query
        .selectFrom('memberships')
        .select('developerId')
        .where('projectId', '=', projectId)
        .execute()
      return rows.map(({ developerId }) => developerId)
    },
    /** The project no longer belongs to the developer. */
    async removeProject(developerId: string, projectId: string): Promise<void> {
      await query
        .deleteFrom('memberships')
        .where('developerId', '=', developerId)
        .where('projectId', '=', projectId)
        .execute()
    },
    async addPasswordLink(link: PasswordLink): Promise<void> {
      await query.insertInto('passwordLinks').values(link).execute()
    },
    /** The developer who can set a password with this link; undefined once it has been used or has expired. */
    async findPasswordLink(hash: string, nowMs: number): Promise<Developer | undefined> {
      const row = await query
        .selectFrom('passwordLinks')
        .innerJoin('developers', 'developers.id', 'passwordLinks.developerId')
        .selectAll('developers')
        .where('hash', '=', hash)
        .where('expiresAtMs', '>', nowMs)
        .executeTakeFirst()
      return row && toDeveloper(row)
    },
    /**
     * Sets the password, or keeps it, ends the developer's sessions, and consumes all password links of the developer;
     * `undefined`: the link has been used or has expired.
     */
    usePasswordLink: (
      hash: string,
      passwordHash: string | undefined,
      nowMs: number,
    ): Promise<Developer | undefined> =>
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
    /** Deletes the invitations and password links that expired by `nowMs`; returns how many. */
    purge: (nowMs: number): Promise<number> =>
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
