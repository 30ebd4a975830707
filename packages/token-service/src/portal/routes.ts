import type { ServiceContext } from '../service/context.ts'
import { accountHandlers } from './account/account-handlers.ts'
import { accountRoutes } from './account/account-routes.ts'
import { applicationHandlers } from './applications/application-handlers.ts'
import { applicationRoutes } from './applications/application-routes.ts'
import { approvalHandlers } from './approvals/approval-handlers.ts'
import { approvalRoutes } from './approvals/approval-routes.ts'
import { auditHandlers } from './audit/audit-handlers.ts'
import { auditRoutes } from './audit/audit-routes.ts'
import { overviewRoutes } from './overview/overview-routes.ts'
import { overviewHandlers } from './overview/overview-handlers.ts'
import { developerHandlers } from './people/developer-handlers.ts'
import { peopleRoutes } from './people/people-routes.ts'
import type { HandlersOf } from './portal-request.ts'
import { projectHandlers } from './projects/project-handlers.ts'
import { projectRoutes } from './projects/project-routes.ts'
import { referenceHandlers } from './reference/reference-handlers.ts'
import { referenceRoutes } from './reference/reference-routes.ts'
import { resourceServerHandlers } from './resource-servers/resource-server-handlers.ts'
import { resourceServerRoutes } from './resource-servers/resource-server-routes.ts'
import { secretHandlers } from './secrets/credential-handlers.ts'
import { secretRoutes } from './secrets/secret-routes.ts'
import { linkHandlers } from './session/link-handlers.ts'
import { logInHandlers } from './session/log-in-handlers.ts'
import { openidHandlers } from './session/openid-handlers.ts'

import type { OpenidProvider } from './session/openid-provider.ts'
import { linkRoutes, logInRoutes, openidRoutes } from './session/session-routes.ts'

/** Every request that the portal handles, apart from its static files. */
export const routes = {
  ...overviewRoutes,
  ...referenceRoutes,
  ...logInRoutes,

  ...openidRoutes,
  ...linkRoutes,
  ...accountRoutes,
  ...peopleRoutes,
  ...resourceServerRoutes,
  ...auditRoutes,
  ...approvalRoutes,
  ...projectRoutes,
  ...applicationRoutes,
  ...secretRoutes,
} as const

/** A handler for each route: the type check fails without it. */
export function createHandlers(
  service: ServiceContext,
  provider: OpenidProvider | undefined,
): HandlersOf<typeof routes> {
  return {
    ...overviewHandlers(service),
    ...referenceHandlers(service),
    ...logInHandlers(service, provider),

    ...openidHandlers(service, provider),
    ...linkHandlers(service),
    ...accountHandlers(service),
    ...developerHandlers(service),
    ...resourceServerHandlers(service),
    ...auditHandlers(service),
    ...approvalHandlers(service),
    ...projectHandlers(service),
    ...applicationHandlers(service),
    ...secretHandlers(service),
  }
}
