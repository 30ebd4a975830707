import { digest } from '../runtime/digest.ts'
import type { Act } from './act.ts'
import { countDeleted, type Database } from './database.ts'

/** A form was sent twice: what it requests was done the first time. */
export class AlreadySubmitted extends Error {
  /** The ID of what it created. */
  readonly createdId: string

  constructor(createdId: string) {
    super('The form was sent already.')
    this.createdId = createdId
  }
}

// Longer than a session, after which a form cannot be sent again.
const retentionMs = 7 * 86_400_000

/**
 * Creates something once for each form, however often a browser sends it.
 *
 * @param submissionId of the form; it recognises the form, and becomes the ID of nothing
 * @throws {@link AlreadySubmitted}
 */
export async function createOnce<Created extends { readonly id: string }>(
  act: Act,
  submissionId: string,
  create: () => Promise<Created>,
): Promise<Created> {
  const { query, by, clock } = act
  // Of this person alone: nobody can use up the IDs of somebody else's forms.
  const key = digest(`${by.actorId ?? ''} ${submissionId}`)
  const known = query.selectFrom('submissions').select('createdId').where('key', '=', key)
  const submitted = await known.executeTakeFirst()
  if (submitted) throw new AlreadySubmitted(submitted.createdId)
  const created = await create()
  await query
    .insertInto('submissions')
    .values({ key, createdId: created.id, expiresAtMs: clock.now() + retentionMs })
    .execute()
  return created
}

export function submissionStorage({ query }: Database) {
  return {
    purge: (nowMs: number): Promise<number> =>
      countDeleted(query.deleteFrom('submissions').where('expiresAtMs', '<=', nowMs)),
  }
}
