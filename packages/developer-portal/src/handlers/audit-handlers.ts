import type { ServiceContext } from '@tokenwell/token-service/plugin'
import { auditPage } from '../pages/audit-page.ts'
import { PortalError } from '../request/portal-error.ts'
import type { DeveloperHandler } from '../request/portal-request.ts'

const shownEntries = 200

/** The audit log, for the administrator. */
export function auditHandlers({ storage, activity }: ServiceContext) {
  return {
    async showAudit(request) {
      if (!request.developer.administrator) throw new PortalError('not_allowed')
      await activity.flush()
      return { page: auditPage(request, await storage.activity.audit(shownEntries)) }
    },
  } satisfies Record<string, DeveloperHandler>
}
