import { isBeingDeleted } from '../../applications/application.ts'
import type { approvalRoutes } from './approval-routes.ts'
import type { ServiceContext } from '../../service/service-context.ts'
import { z } from 'zod'
import type { Application } from '../../applications/application.ts'
import type { NoticeName } from '../layout/notices.ts'
import { reportChange } from '../applications/report-change.ts'
import { ownClient } from '../projects/own-projects.ts'
import { actorOf } from '../session/actor.ts'
import { PortalError } from '../portal-error.ts'
import { approvalsPage } from './approvals-page.ts'
import type { DeveloperRequest, HandlersOf } from '../portal-request.ts'
import { requireAdministrator } from '../session/require-administrator.ts'

const decisionForm = z.discriminatedUnion('decision', [
  z.object({
    decision: z.literal('approve'),
    revision: z
      .string()
      .regex(/^\d{1,9}$/)
      .transform(Number),
  }),
  z.object({ decision: z.enum(['decline', 'revoke', 'revoke_tokens']) }),
])

/** The queue of pending decisions of an administrator. */
export function approvalHandlers({
  storage,
  registryFor,
  clock,
}: ServiceContext): HandlersOf<typeof approvalRoutes> {
  async function decide(application: Application, request: DeveloperRequest): Promise<NoticeName> {
    const { developer, form } = request
    const registry = registryFor(actorOf(request))
    // Owners may revoke an approval; only administrators approve.
    const needsAdministrator = form['decision'] === 'approve' || form['decision'] === 'decline'
    if (needsAdministrator && !developer.administrator) throw new PortalError('not_allowed')
    const { data } = decisionForm.safeParse(form)
    if (!data) throw new PortalError('invalid_form')
    switch (data.decision) {
      case 'approve':
        await registry.approve(application, data.revision)
        return application.status === 'approved' ? 'changes_approved' : 'application_approved'
      case 'decline':
        await registry.decline(application)
        return 'changes_declined'
      case 'revoke':
        await registry.revoke(application)
        return 'application_revoked'
      case 'revoke_tokens':
        await registry.revokeTokens(application)
        return 'tokens_revoked'
    }
  }

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
    async changeApproval(request) {
      const { application, project } = await ownClient(storage, request)
      const notice = await reportChange(decide(application, request))
      const { paths, form } = request
      const isQueue = form['from'] === 'approvals'
      return { redirectTo: isQueue ? paths.approvals : paths.application(project.id, application.id), notice }
    },
  }
}
