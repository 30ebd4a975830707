import type { Actor } from '@tokenwell/token-service/plugin'
import type { DeveloperRequest } from './portal-request.ts'

/** The developer, for the audit log. */
export function actorOf({ developer, address }: DeveloperRequest): Actor {
  return { actor: developer.name, address }
}
