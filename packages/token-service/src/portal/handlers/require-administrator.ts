import { PortalError } from '../request/portal-error.ts'
import type { DeveloperRequest } from '../request/portal-request.ts'

export function requireAdministrator({ developer }: DeveloperRequest): void {
  if (!developer.administrator) throw new PortalError('not_allowed')
}
