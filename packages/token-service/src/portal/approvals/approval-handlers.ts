import { z } from 'zod'
import type { approvalRoutes } from './approval-routes.ts'
import type { ServiceContext } from '../../oauth/service-context.ts'
import type { Application } from '../../storage/application.ts'
import type { NoticeName } from '../layout/notices.ts'
import { reportChange, PortalError } from '../portal-error.ts'
import { ownClient } from '../projects/own-projects.ts'
import { actorOf, requireAdministrator } from '../session/actor.ts'
import { ApplicationChanged } from '../../clients/application-registry.ts'
import type { RawParameters } from '../../oauth/parameters.ts'
import { pagingOf } from '../layout/paging.ts'
import { approvalsPage } from './approvals-page.ts'
import type { DeveloperRequest, HandlersOf } from '../portal-request.ts'

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

interface Choice {
  readonly decision: 'approve' | 'decline'
  /** As the administrator has seen it. */
  readonly revision: number
  readonly clientId: string
}

/** The button of one application, or all that are selected. */
function choicesOf({ decision, selected = [] }: RawParameters): Choice[] {
  const texts = decision === 'selected' ? [selected].flat().map((each) => `approve ${each}`) : [decision]
  if (texts.length === 0) throw new PortalError('nothing_selected')
  return texts.map((text) => {
    const [, what, revision, clientId = ''] = /^(approve|decline) (\d{1,9}) (.+)$/.exec(String(text)) ?? []
    if (what !== 'approve' && what !== 'decline') throw new PortalError('invalid_form')
    return { decision: what, revision: Number(revision), clientId }
  })
}

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
      const paging = pagingOf(request.query)
      const { items: clients, total } = await storage.listings.applications({ ...paging, status: 'awaiting' })
      const owners = await storage.listings.owners(clients.map(({ project }) => project.id))
      return { page: approvalsPage(request, { clients, owners, paging, total, nowMs: clock.now() }) }
    },
    async decide(request) {
      requireAdministrator(request)
      const choices = choicesOf(request.form)
      const registry = registryFor(actorOf(request))
      let changed = 0
      for (const { decision, revision, clientId } of choices) {
        const application = (await storage.applications.findClient(clientId))?.application
        try {
          if (!application) throw new ApplicationChanged()
          if (decision === 'approve') await registry.approve(application, revision)
          else if (application.requested) await registry.decline(application)
          else await registry.revoke(application)
        } catch (error) {
          if (!(error instanceof ApplicationChanged)) throw error
          changed += 1
        }
      }
      const redirectTo = request.paths.approvals
      if (changed > 0) return { redirectTo, notice: 'some_changed' }
      return { redirectTo, notice: choices[0]?.decision === 'decline' ? 'declined' : 'approved' }
    },
    async changeApproval(request) {
      const { application, project } = await ownClient(storage, request)
      const notice = await reportChange(decide(application, request))
      return { redirectTo: request.paths.application(project.id, application.id), notice }
    },
  }
}
