import type { ServiceContext } from '../service-context.ts'
import type { Answer, Exchange } from './exchange.ts'
import { createVisit, sessionSeconds } from './visit.ts'

/** Logs a developer in. */
export function createSessionStart({ storage, keyring, clock, activity }: ServiceContext) {
  return async (developerId: string, { visit, address, paths }: Exchange): Promise<Answer> => {
    // Another id than before: nobody who knew that one gets in with it.
    const session = createVisit(keyring)
    const expiresAtMs = clock.now() + sessionSeconds * 1000
    await storage.sessions.close(visit.hash)
    await storage.sessions.open({ hash: session.hash, developerId, expiresAtMs })
    activity.audit({ event: 'logged_in', address, detail: developerId })
    return { redirectTo: paths.projects, session }
  }
}
