import type { ServiceContext } from '../../service/service-context.ts'
import type { DeveloperHandler, Handler } from '../request/portal-request.ts'
import type { HandlerName } from '../request/routes.ts'
import { accountHandlers } from './account-handlers.ts'
import { applicationHandlers } from './application-handlers.ts'
import { auditHandlers } from './audit-handlers.ts'
import { developerHandlers } from './developer-handlers.ts'
import { logInHandlers } from './log-in-handlers.ts'
import { passwordLinkHandlers } from './password-link-handlers.ts'
import { approvalHandlers } from './approval-handlers.ts'
import { productHandlers } from './product-handlers.ts'
import { projectHandlers } from './project-handlers.ts'
import { referenceHandlers } from './reference-handlers.ts'
import { keyHandlers } from './key-handlers.ts'
import { resourceServerHandlers } from './resource-server-handlers.ts'
import { secretHandlers } from './secret-handlers.ts'
import { startHandlers } from './start-handlers.ts'

export interface Handlers {
  readonly forEverybody: Readonly<Partial<Record<HandlerName, Handler>>>
  /** Anybody who is not logged in is redirected to the login page. */
  readonly forDevelopers: Readonly<Partial<Record<HandlerName, DeveloperHandler>>>
}

export function createHandlers(service: ServiceContext): Handlers {
  return {
    forEverybody: {
      ...logInHandlers(service),
      ...passwordLinkHandlers(service),
      ...referenceHandlers(service),
    },
    forDevelopers: {
      ...startHandlers(service),
      ...accountHandlers(service),
      ...approvalHandlers(service),
      ...auditHandlers(service),
      ...developerHandlers(service),
      ...productHandlers(service),
      ...projectHandlers(service),
      ...applicationHandlers(service),
      ...secretHandlers(service),
      ...keyHandlers(service),
      ...resourceServerHandlers(service),
    },
  }
}
