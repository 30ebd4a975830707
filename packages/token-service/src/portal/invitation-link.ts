import { randomBytes } from 'node:crypto'
import type { Clock } from '../clock.ts'
import { digest } from '../digest.ts'
import type { Storage } from '../storage/storage.ts'

const lifetimeMs = 15 * 60_000

export interface InvitationContext {
  readonly storage: Pick<Storage, 'developers'>
  readonly clock: Clock
}

/** The path, under what the service is reached by, by which somebody joins: good once, and for 15 minutes. */
export async function createJoinPath(
  { storage, clock }: InvitationContext,
  { administrator }: { readonly administrator: boolean },
): Promise<string> {
  const token = randomBytes(32).toString('base64url')
  const expiresAtMs = clock.now() + lifetimeMs
  await storage.developers.invite({ hash: digest(token), administrator, expiresAtMs })
  return `/portal/join/${token}`
}

/** For the first developer, who becomes the administrator; `undefined` once there is one. */
export async function createSetupPath(context: InvitationContext): Promise<string | undefined> {
  const developers = await context.storage.developers.list()
  return developers.length > 0 ? undefined : createJoinPath(context, { administrator: true })
}
