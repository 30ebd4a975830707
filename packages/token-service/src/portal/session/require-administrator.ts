import { PortalError } from '../portal-error.ts'
import type { DeveloperRequest } from '../portal-request.ts'

export function requireAdministrator({ developer }: DeveloperRequest): void {
  if (!developer.administrator) throw new PortalError('not_allowed')
}
