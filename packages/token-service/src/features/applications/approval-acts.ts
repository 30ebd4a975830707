import { UsageError } from '../../runtime/usage-error.ts'
import type { Act } from '../../storage/act.ts'
import type { Application } from '../../storage/application.ts'
import { ApplicationChanged, changeApplication, unapproved } from './acts.ts'

/** There is no request to decide on. */
class NothingRequested extends UsageError {
  constructor() {
    super('The application requests nothing, so there is nothing to decline.')
  }
}

/**
 * Approves the application with what it requests.
 *
 * @throws {@link ApplicationChanged} if `revision`, which the administrator has seen, is not the current one
 */
export async function approve(act: Act, application: Application, revision: number): Promise<void> {
  await changeApplication(
    act,
    application,
    'application_approved',
    ({ products, scopes, requested }) => ({
      products,
      scopes,
      ...requested,
      requested: null,
      review: null,
      status: 'approved',
    }),
    { revision, before: granted },
  )
}

/** The application with what it was granted so far: nothing before its approval. */
function granted(application: Application): Application {
  return application.status === 'approved' ? application : { ...application, products: [], scopes: [] }
}

interface Decline {
  /** For the owner of the application. */
  readonly reason?: string | undefined
  /** The one that the administrator has seen. */
  readonly revision?: number | undefined
}

/**
 * Declines a new application, or what an approved one requests.
 *
 * @throws {@link ApplicationChanged} as {@link approve}
 * @throws {@link NothingRequested}
 */
export async function decline(
  act: Act,
  application: Application,
  { reason, revision }: Decline = {},
): Promise<void> {
  await changeApplication(
    act,
    application,
    'request_declined',
    ({ status, requested, review, revision: before }) => {
      if (!requested && status !== 'pending') throw new NothingRequested()
      const declined = { reason, requested, revision: before + 1 }
      return {
        ...(requested ? { requested: null } : { status: 'revoked' }),
        review: { ...review, declined },
      }
    },
    { revision, detail: reason },
  )
}

/** The request waits again. @throws {@link ApplicationChanged} if the application has changed since it was declined */
export async function undoDecline(act: Act, application: Application): Promise<void> {
  await changeApplication(
    act,
    application,
    'decline_undone',
    ({ revision, review: { declined, ...review } = {} }) => {
      if (declined?.revision !== revision) throw new ApplicationChanged()
      const { requested } = declined
      return { ...(requested ? { requested } : { status: 'pending' }), review }
    },
  )
}

/** Revokes the application's approval and all its tokens; a later approval does not reactivate them. */
export async function revokeApproval(act: Act, application: Application): Promise<void> {
  await changeApplication(act, application, 'application_revoked', () => unapproved, {
    revokesTokens: true,
    whileDeleted: true,
  })
}

/** Revokes all current tokens of the application. */
export async function revokeTokens(act: Act, application: Application): Promise<void> {
  await changeApplication(act, application, 'tokens_revoked', () => ({}), {
    revokesTokens: true,
    whileDeleted: true,
  })
}
