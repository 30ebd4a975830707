import { randomUUID } from 'node:crypto'
import { isBeingDeleted, type ServiceContext } from '@tokenwell/token-service/plugin'
import { startPage, type StartContent } from '../pages/start-page.ts'
import type { DeveloperHandler, DeveloperRequest } from '../request/portal-request.ts'
import { ownProjects } from './own-projects.ts'

/** The steps to the first token. */
export function startHandlers({ storage, activity }: ServiceContext) {
  async function progress(request: DeveloperRequest): Promise<StartContent> {
    const all = await ownProjects(storage, request)
    const projects = all.filter(({ deletesAtMs }) => deletesAtMs === undefined)
    const clients = await storage.applications.listOf(projects.map(({ id }) => id))
    const lastUses = await activity.lastUses(clients.map(({ application }) => application.id))
    const hasToken = ({ application }: (typeof clients)[number]) => lastUses.has(application.id)
    const registered = clients.filter((client) => !isBeingDeleted(client))
    const client = registered.find(hasToken) ?? registered[0]
    return {
      project: client?.project ?? projects[0],
      client,
      hasToken: client !== undefined && hasToken(client),
      products: await storage.products.list(),
      submissionId: randomUUID(),
    }
  }

  return {
    async home(request) {
      const { hasToken } = await progress(request)
      return { redirectTo: hasToken ? request.paths.projects : request.paths.start, notice: request.notice }
    },
    showStart: async (request) => ({ page: startPage(request, await progress(request)) }),
  } satisfies Record<string, DeveloperHandler>
}
