import { apiDescription } from '../../http/openapi/api-description.ts'
import { introspectionPath } from '../../oauth/endpoint-paths.ts'
import type { ServiceContext } from '../../service/context.ts'
import type { DeveloperRequest, HandlersOf } from '../portal-request.ts'
import { ownerIdOf } from '../projects/own-projects.ts'
import { readOperations } from './api-operations.ts'
import { referencePage } from './reference-page.ts'
import type { referenceRoutes } from './reference-routes.ts'
import type { Client } from './try-form.ts'

const shownClients = 50

/** The API reference, from the same document as `/openapi.yaml`. */
export function referenceHandlers({ storage, format }: ServiceContext): HandlersOf<typeof referenceRoutes> {
  async function applicationsOf(request: DeveloperRequest): Promise<Client[]> {
    const filter = { ownerId: ownerIdOf(request), limit: shownClients, offset: 0 }
    const { items } = await storage.listings.applications(filter)
    return items.map(({ application: { clientId, name } }) => ({ clientId, name }))
  }

  async function resourceServersOf({ developer }: DeveloperRequest): Promise<Client[]> {
    return developer.administrator ? (await storage.resourceServers.list()).slice(0, shownClients) : []
  }

  return {
    async showReference(request) {
      const { developer } = request
      const own = developer && { ...request, developer }
      const [applications, servers] = own
        ? await Promise.all([applicationsOf(own), resourceServersOf(own)])
        : [[], []]
      const page = referencePage(request, {
        ...readOperations(apiDescription(request.baseUrl, format)),
        clientsFor: ({ path }) => (path === introspectionPath ? servers : applications),
      })
      // For those who are not logged in, it contains nothing that nobody may guess, and is compressed.
      return { page, hasSecrets: developer !== undefined }
    },
  }
}
