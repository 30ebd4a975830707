import { isBeingDeleted } from '../../applications/application.ts'
import type { ServiceContext } from '../../service/service-context.ts'
import { approvalsPage } from '../pages/approvals-page.ts'
import type { DeveloperHandler } from '../request/portal-request.ts'
import { requireAdministrator } from './require-administrator.ts'

/** The queue of pending decisions of an administrator. */
export function approvalHandlers({ storage, clock }: ServiceContext) {
  return {
    async showApprovals(request) {
      requireAdministrator(request)
      const [waiting, developers, memberships] = await Promise.all([
        storage.applications.awaitingApproval(),
        storage.developers.list(),
        storage.developers.memberships(),
      ])
      const owners = new Map<string, string[]>()
      for (const { projectId, developerId } of memberships) {
        const name = developers.find(({ id }) => id === developerId)?.name
        if (name !== undefined) owners.set(projectId, [...(owners.get(projectId) ?? []), name])
      }
      const clients = waiting.filter((client) => !isBeingDeleted(client))
      return { page: approvalsPage(request, { clients, owners, nowMs: clock.now() }) }
    },
  } satisfies Record<string, DeveloperHandler>
}
