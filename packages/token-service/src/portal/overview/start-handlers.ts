import { randomUUID } from 'node:crypto'
import { isBeingDeleted, type Project } from '../../applications/application.ts'
import type { overviewRoutes } from './overview-routes.ts'
import type { ServiceContext } from '../../service/service-context.ts'
import { startPage, type StartContent } from './start-page.ts'
import type { HandlersOf } from '../portal-request.ts'
import { joinedProjects, ownProjects } from '../projects/own-projects.ts'

/** The steps to the first token. */
export function startHandlers({ storage, activity }: ServiceContext): HandlersOf<typeof overviewRoutes> {
  async function progress(all: readonly Project[]): Promise<StartContent> {
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
      const { hasToken } = await progress(await ownProjects(storage, request))
      return { redirectTo: hasToken ? request.paths.projects : request.paths.start, notice: request.notice }
    },
    // An administrator sees every project, but takes the steps in their own.
    showStart: async (request) => ({
      page: startPage(request, await progress(await joinedProjects(storage, request))),
    }),
  }
}
