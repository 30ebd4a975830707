import type { Actor } from '../../storage/audit-storage.ts'
import type { Developer } from '../../storage/developer-storage.ts'

interface ActingRequest {
  readonly developer: Pick<Developer, 'id' | 'name'>
  readonly address: string
}

/** The developer, for the audit log. */
export function actorOf({ developer, address }: ActingRequest): Actor {
  return { actorType: 'person', actor: developer.name, actorId: developer.id, address }
}
