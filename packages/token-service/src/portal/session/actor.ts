import type { Actor } from '../../registry/application-registry.ts'
import type { DeveloperRequest } from '../portal-request.ts'

/** The developer, for the audit log. */
export function actorOf({ developer, address }: DeveloperRequest): Actor {
  return { actor: developer.name, address }
}
