import { toDeveloper, type Identity } from '../people/storage.ts'
import type { Developer } from '../../storage/developer.ts'
import { countDeleted, type Database } from '../../storage/database.ts'

export interface Session {
  readonly hash: string
  readonly developerId: string
  readonly expiresAtMs: number
  readonly provider?: SessionOfProvider | undefined
  /** From where the developer logged in. */
  readonly address?: string | undefined
  /** With which browser, such as `Firefox on Linux`. */
  readonly browser?: string | undefined
}

/** What is known of a session that an OpenID provider began. */
export interface SessionOfProvider extends Identity {
  /** The provider's ID of its own session, if it states one. */
  readonly sid?: string | undefined
  /** Encrypted. */
  readonly idToken: string
}

/** Sessions that an OpenID provider began: of a person, of one session at the provider, or both. */
export type EndedAtProvider = Pick<Identity, 'issuer'> &
  (
    | { readonly subject: string; readonly sid?: string | undefined }
    | { readonly subject?: undefined; readonly sid: string }
  )

export function sessionStorage({ query }: Database) {
  return {
    async open({ provider, ...session }: Session): Promise<void> {
      await query
        .insertInto('sessions')
        .values({ ...session, ...provider })
        .execute()
    },
    /** The developer of the session, until it expires. */
    async find(hash: string, nowMs: number): Promise<Developer | undefined> {
      const row = await query
        .selectFrom('sessions')
        .innerJoin('developers', 'developers.id', 'sessions.developerId')
        .selectAll('developers')
        .where('hash', '=', hash)
        .where('expiresAtMs', '>', nowMs)
        .executeTakeFirst()
      return row && toDeveloper(row)
    },
    /** Those of the developer, the latest first. */
    async list(developerId: string, nowMs: number): Promise<Omit<Session, 'provider'>[]> {
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
    /** The encrypted ID token of the session, if it has one. */
    async findIdToken(hash: string): Promise<string | undefined> {
      const row = await query
        .selectFrom('sessions')
        .select('idToken')
        .where('hash', '=', hash)
        .executeTakeFirst()
      return row?.idToken ?? undefined
    },
    async findExpiry(hash: string): Promise<number | undefined> {
      const session = query.selectFrom('sessions').select('expiresAtMs').where('hash', '=', hash)
      return (await session.executeTakeFirst())?.expiresAtMs
    },
    async close(hash: string): Promise<void> {
      await query.deleteFrom('sessions').where('hash', '=', hash).execute()
    },
    async closeAll(developerId: string): Promise<void> {
      await query.deleteFrom('sessions').where('developerId', '=', developerId).execute()
    },
    /** Returns the names of the developers who had such sessions. */
    async closeOfProvider({ issuer, subject, sid }: EndedAtProvider): Promise<string[]> {
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
    /** Deletes what expired by `nowMs`; returns how many. */
    purge: (nowMs: number): Promise<number> =>
      countDeleted(query.deleteFrom('sessions').where('expiresAtMs', '<=', nowMs)),
  }
}
