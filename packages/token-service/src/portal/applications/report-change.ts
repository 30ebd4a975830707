import { ApplicationChanged } from '../../clients/application-registry.ts'
import { PortalError } from '../portal-error.ts'

/** Tells the developer that somebody else has changed the application in the meantime. */
export async function reportChange<Result>(change: Promise<Result>): Promise<Result> {
  try {
    return await change
  } catch (error) {
    throw error instanceof ApplicationChanged ? new PortalError('application_changed') : error
  }
}
