import { createFailedAttemptLimit } from '../../oauth/failed-attempt-limit.ts'
import { digest } from '../../runtime/digest.ts'
import { networkAddress } from '../../oauth/network-address.ts'
import { ProtocolError } from '../../oauth/protocol-error.ts'
import type { Developer } from '../../storage/developer-storage.ts'
import type { ServiceContext } from '../../oauth/service-context.ts'
import { PortalError } from '../portal-error.ts'
import { isPassword } from './password.ts'

const failureLimit = { attempts: 10, windowSeconds: 300 }
// For all names together: one address cannot keep the password check busy.
const addressLimit = { attempts: 50, windowSeconds: 300 }
const maxPendingPerAddress = 2

export type PasswordCheck =
  | { readonly developer: Developer; readonly retryAfterSeconds?: undefined }
  | { readonly developer?: undefined; readonly retryAfterSeconds?: number | undefined }

/** Checks a developer's name and password; after too many wrong passwords it reports when to try again. */
export function createPasswordChecker({ storage, clock, activity }: ServiceContext) {
  const failedAttempts = createFailedAttemptLimit(storage.failures, clock, failureLimit)
  const addressGuard = createFailedAttemptLimit(storage.failures, clock, addressLimit)
  const pending = new Map<string, number>()

  async function check(typedName: string, password: string, address: string): Promise<PasswordCheck> {
    const name = typedName.normalize('NFKC').trim().toLowerCase()
    // A digest: people type their password into the name field by mistake.
    const key = `portal ${digest(name)}`
    await addressGuard.check(address, 'portal')
    await failedAttempts.check(address, key)
    const developer = await storage.developers.find(name)
    if (developer && (await isPassword(password, developer.passwordHash))) {
      // Once more: concurrent guesses count as well.
      await failedAttempts.check(address, key)
      return { developer }
    }
    if (!developer) await isPassword(password, undefined)
    await addressGuard.failed(address, 'portal')
    await failedAttempts.failed(address, key)
    activity.count({ event: 'log_in_failed', address, detail: developer?.name })
    return {}
  }

  return async (name: string, password: string, address: string): Promise<PasswordCheck> => {
    const network = networkAddress(address)
    const count = pending.get(network) ?? 0
    if (count >= maxPendingPerAddress) throw new PortalError('busy')
    pending.set(network, count + 1)
    try {
      return await check(name, password, address)
    } catch (error) {
      if (!(error instanceof ProtocolError) || error.reason !== 'too_many_failures') throw error
      return { retryAfterSeconds: error.details.retryAfterSeconds ?? 60 }
    } finally {
      const left = (pending.get(network) ?? 1) - 1
      if (left > 0) pending.set(network, left)
      else pending.delete(network)
    }
  }
}
