import { z } from 'zod'
import type { approvalRoutes } from './approval-routes.ts'
import type { ServiceContext } from '../../service/context.ts'
import type { Application } from '../../storage/application.ts'
import type { NoticeName } from '../layout/notices.ts'
import { PortalError } from '../portal-error.ts'
import { findOwnProject, ownClient } from '../projects/own-projects.ts'
import { actorOf, administratorOf, requireAdministrator } from '../session/session.ts'
import { ApplicationChanged } from '../../features/applications/acts.ts'
import { BeingDeleted } from '../../features/credentials/acts.ts'
import type { RawParameters } from '../../oauth/parameters.ts'
import { listState } from '../layout/list.ts'
import { linkTo } from '../layout/paging.ts'
import { optionalText, parseForm } from '../layout/parse-form.ts'
import { maxNoteLength } from '../../features/applications/settings.ts'
import { approvalFacets, approvalsPage, declinePage } from './approvals-page.ts'
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
      const facets = Object.keys(approvalFacets) as (keyof typeof approvalFacets)[]
      const state = listState(request.query, { orders: ['created'], facets })
      const { search, order, facet, limit, offset } = state
      const { declined: clientId, project: projectId } = request.query
      const project =
        typeof projectId === 'string' && projectId !== ''
          ? await findOwnProject(storage, request, projectId)
          : undefined
      const filter = { search, projectId: project?.id, nowMs: clock.now() }
      const status = facet || 'awaiting'
      const [found, counts] = await Promise.all([
        storage.listings.applications({ ...filter, status, order, limit, offset }),
        storage.listings.applicationCounts(filter),
      ])
      const { items: clients, total } = found
      const owners = await storage.listings.owners(clients.map((client) => client.project.id))
      const declined =
        typeof clientId === 'string' ? await storage.applications.findClient(clientId) : undefined
      const content = { clients, owners, state, total, counts, project, declined, nowMs: clock.now() }
      return { page: approvalsPage(request, content) }
    },
    async decide(request) {
      const registry = registryFor(administratorOf(request))
      const choices = choicesOf(request.form)
      const isDecline = request.form['decision'] === 'decline'
      const reason = parseForm(reasonForm, request.form).data?.reason
      if (reason === undefined) throw new PortalError('invalid_form')
      let changed = 0
      for (const { revision: seen, clientId } of choices) {
        const application = (await storage.applications.findClient(clientId))?.application
        try {
          if (!application) throw new ApplicationChanged()
          if (isDecline) await registry.decline(application, { revision: seen, reason: reason || undefined })
          else await registry.approve(application, seen)
        } catch (error) {
          if (!(error instanceof ApplicationChanged || error instanceof BeingDeleted)) throw error
          changed += 1
        }
      }
      // What comes next in the same part of the queue.
      const { q = '', show = '', project = '' } = request.query as Readonly<Record<string, string>>
      const rest = {
        search: q,
        projectId: project || undefined,
        status: 'awaiting',
        limit: 0,
        offset: 0,
      } as const
      const isSearchDone = q !== '' && (await storage.listings.applications(rest)).total === 0
      const redirectTo = linkTo(request.paths.approvals, { q: isSearchDone ? '' : q, show, project })
      if (changed > 0) return { redirectTo, notice: 'some_changed' }
      return { redirectTo, notice: isDecline ? 'requests_declined' : 'approved' }
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
