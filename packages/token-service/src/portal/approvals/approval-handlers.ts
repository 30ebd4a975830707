import { z } from 'zod'
import type { approvalRoutes } from './approval-routes.ts'
import type { ServiceContext } from '../../oauth/service-context.ts'
import type { Application } from '../../storage/application.ts'
import type { NoticeName } from '../layout/notices.ts'
import { PortalError } from '../portal-error.ts'
import { ownClient } from '../projects/own-projects.ts'
import { actorOf, administratorOf, requireAdministrator } from '../session/actor.ts'
import { ApplicationChanged } from '../../clients/application-registry.ts'
import { BeingDeleted } from '../../clients/credential-registry.ts'
import type { RawParameters } from '../../oauth/parameters.ts'
import { linkTo, pagingOf } from '../layout/paging.ts'
import { optionalText, parseForm } from '../layout/parse-form.ts'
import { maxNoteLength } from '../../clients/application-schema.ts'
import { declinePage, approvalsPage } from './approvals-page.ts'
import type { DeveloperRequest, HandlersOf } from '../portal-request.ts'

const revision = z
  .string()
  .regex(/^\d{1,9}$/)
  .transform(Number)
const reasonForm = z.object({ reason: optionalText(maxNoteLength) })
const decisionForm = z.discriminatedUnion('decision', [
  z.object({ decision: z.literal('approve'), revision }),
  z.object({ decision: z.literal('decline'), revision }),
  z.object({ decision: z.enum(['undo_decline', 'revoke', 'revoke_tokens']) }),
])

interface Choice {
  /** As the administrator has seen it. */
  readonly revision: number
  readonly clientId: string
}

/** The button of one application, or all that are selected. */
function choicesOf({ approve, selected = [] }: RawParameters): Choice[] {
  const texts = approve === undefined ? [selected].flat() : [approve]
  if (texts.length === 0) throw new PortalError('nothing_selected')
  return texts.map((text) => {
    const [, seen, clientId = ''] = /^(\d{1,9}) (.+)$/.exec(String(text)) ?? []
    if (seen === undefined) throw new PortalError('invalid_form')
    return { revision: Number(seen), clientId }
  })
}

/** The queue of pending decisions of an administrator. */
export function approvalHandlers({
  storage,
  registryFor,
  clock,
}: ServiceContext): HandlersOf<typeof approvalRoutes> {
  async function decide(
    application: Application,
    request: DeveloperRequest,
    reason: string,
  ): Promise<NoticeName> {
    const { developer, form } = request
    const registry = registryFor(actorOf(request))
    // Owners may revoke an approval; only administrators approve.
    const isOwners = form['decision'] === 'revoke' || form['decision'] === 'revoke_tokens'
    if (!isOwners && !developer.administrator) throw new PortalError('not_allowed')
    const { data } = decisionForm.safeParse(form)
    if (!data) throw new PortalError('invalid_form')
    switch (data.decision) {
      case 'approve':
        await registry.approve(application, data.revision)
        return application.status === 'approved' ? 'changes_approved' : 'application_approved'
      case 'decline':
        await registry.decline(application, { revision: data.revision, reason: reason || undefined })
        return 'request_declined'
      case 'undo_decline':
        await registry.undoDecline(application)
        return 'decline_undone'
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
      const { items: clients, total } = await storage.listings.applications({
        ...paging,
        status: 'awaiting',
        order: 'created',
      })
      const owners = await storage.listings.owners(clients.map(({ project }) => project.id))
      const { declined: clientId } = request.query
      const declined =
        typeof clientId === 'string' ? await storage.applications.findClient(clientId) : undefined
      const content = { clients, owners, paging, total, declined, nowMs: clock.now() }
      return { page: approvalsPage(request, content) }
    },
    async decide(request) {
      const registry = registryFor(administratorOf(request))
      const choices = choicesOf(request.form)
      let changed = 0
      for (const { revision: seen, clientId } of choices) {
        const application = (await storage.applications.findClient(clientId))?.application
        try {
          if (!application) throw new ApplicationChanged()
          await registry.approve(application, seen)
        } catch (error) {
          if (!(error instanceof ApplicationChanged || error instanceof BeingDeleted)) throw error
          changed += 1
        }
      }
      const redirectTo = request.paths.approvals
      if (changed > 0) return { redirectTo, notice: 'some_changed' }
      return { redirectTo, notice: 'approved' }
    },
    async showDecline(request) {
      requireAdministrator(request)
      const client = await ownClient(storage, request)
      const { application, project } = client
      if (application.status !== 'pending' && !application.requested)
        return { redirectTo: request.paths.application(project.id, application.id) }
      return { page: declinePage(request, { client, from: String(request.query['from'] ?? '') }) }
    },
    async changeApproval(request) {
      const client = await ownClient(storage, request)
      const { application, project } = client
      const { paths, form } = request
      const from = String(form['from'] ?? '')
      const reason = parseForm(reasonForm, form)
      if (!reason.data) {
        requireAdministrator(request)
        return { page: declinePage(request, { client, from, state: reason.state }), status: 422 }
      }
      const notice = await decide(application, request, reason.data.reason)
      // The queue itself offers to undo it.
      if (from === 'approvals')
        return notice === 'request_declined'
          ? { redirectTo: linkTo(paths.approvals, { declined: application.clientId }) }
          : { redirectTo: paths.approvals, notice }
      return { redirectTo: paths.application(project.id, application.id), notice }
    },
  }
}
