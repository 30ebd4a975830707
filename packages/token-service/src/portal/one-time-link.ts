import { randomBytes } from 'node:crypto'
import type { Clock } from '../clock.ts'
import { digest } from '../digest.ts'
import type { Developer } from '../storage/developer-storage.ts'
import type { Storage } from '../storage/storage.ts'

const lifetimeMs = 15 * 60_000

export interface LinkContext {
  readonly storage: Pick<Storage, 'developers'>
  readonly clock: Clock
}

/** The path, under what the service is reached by, by which somebody joins: good once, and for 15 minutes. */
export async function createJoinPath(
  { storage, clock }: LinkContext,
  { administrator }: { readonly administrator: boolean },
): Promise<string> {
  const { token, ...link } = createLink(clock)
  await storage.developers.invite({ ...link, administrator })
  return `/portal/join/${token}`
}

/** For the first developer, who becomes the administrator; `undefined` once there is one. */
export async function createSetupPath(context: LinkContext): Promise<string | undefined> {
  const developers = await context.storage.developers.list()
  return developers.length > 0 ? undefined : createJoinPath(context, { administrator: true })
}

/** By which that developer sets a new password. */
export async function createPasswordPath(
  { storage, clock }: LinkContext,
  { id }: Pick<Developer, 'id'>,
): Promise<string> {
  const { token, ...link } = createLink(clock)
  await storage.developers.addPasswordLink({ ...link, developerId: id })
  return `/portal/password/${token}`
}

function createLink(clock: Clock) {
  const token = randomBytes(32).toString('base64url')
  return { token, hash: digest(token), expiresAtMs: clock.now() + lifetimeMs }
}
