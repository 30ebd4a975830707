import type { Actor } from '../../clients/application-registry.ts'
import type { DeveloperRequest } from '../portal-request.ts'

/** The developer, for the audit log. */
export function actorOf({ developer, address }: DeveloperRequest): Actor {
  return { actor: developer.name, address }
}
