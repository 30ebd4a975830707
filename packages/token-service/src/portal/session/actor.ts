import type { Actor } from '../../storage/audit-storage.ts'
import type { Developer } from '../../storage/developer-storage.ts'
import { PortalError } from '../portal-error.ts'
import type { DeveloperRequest } from '../portal-request.ts'

interface ActingRequest {
  readonly developer: Pick<Developer, 'id' | 'name'>
  readonly address: string
}

/** The developer, for the audit log. */
export function actorOf({ developer, address }: ActingRequest): Actor {
  return { actorType: 'person', actor: developer.name, actorId: developer.id, address }
}

/** The same of an administrator, whom the request must be from. */
export function administratorOf(request: DeveloperRequest): Actor {
  requireAdministrator(request)
  return actorOf(request)
}

export function requireAdministrator({ developer }: DeveloperRequest): void {
  if (!developer.administrator) throw new PortalError('not_allowed')
}
