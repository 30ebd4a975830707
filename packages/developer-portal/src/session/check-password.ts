import {
  createFailureGuard,
  digest,
  ProtocolError,
  type Developer,
  type ServiceContext,
} from '@tokenwell/token-service/plugin'
import { isPassword } from './password.ts'

const failureLimit = { attempts: 10, windowSeconds: 300 }

export type PasswordCheck =
  | { readonly developer: Developer; readonly retryAfterSeconds?: undefined }
  | { readonly developer?: undefined; readonly retryAfterSeconds?: number | undefined }

/** Checks a developer's name and password; after too many wrong passwords it reports when to try again. */
export function createPasswordChecker({ storage, clock, activity }: ServiceContext) {
  const guard = createFailureGuard(storage.failures, clock, failureLimit)

  async function check(typedName: string, password: string, address: string): Promise<PasswordCheck> {
    const name = typedName.normalize('NFKC').trim().toLowerCase()
    // A digest: people type their password into the name field by mistake.
    const key = `portal ${digest(name)}`
    await guard.check(address, key)
    const developer = await storage.developers.find(name)
    if (developer && (await isPassword(password, developer.passwordHash))) {
      // Once more: concurrent guesses count as well.
      await guard.check(address, key)
      return { developer }
    }
    if (!developer) await isPassword(password, undefined)
    await guard.failed(address, key)
    activity.audit({ event: 'log_in_failed', address, detail: developer?.id })
    return {}
  }

  return (name: string, password: string, address: string): Promise<PasswordCheck> =>
    check(name, password, address).catch((error: unknown) => {
      if (!(error instanceof ProtocolError) || error.reason !== 'too_many_failures') throw error
      return { retryAfterSeconds: error.details.retryAfterSeconds ?? 60 }
    })
}
