import { apiDescription } from '../../http/openapi/api-description.ts'
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
  /** The first ones by name, after the one in the URL. */
  async function clientsOf(request: DeveloperRequest): Promise<Client[]> {
    const { client } = request.query
    const filter = { ownerId: ownerIdOf(request), status: 'approved', offset: 0 } as const
    const [first, chosen] = await Promise.all([
      storage.listings.applications({ ...filter, limit: shownClients }),
      typeof client === 'string' && client !== ''
        ? storage.listings.applications({ ...filter, limit: 1, search: client })
        : undefined,
    ])
    const all = [...(chosen?.items ?? []), ...first.items].map(({ application }) => application)
    return [...new Map(all.map(({ clientId, name }) => [clientId, { clientId, name }])).values()]
  }

  return {
    async showReference(request) {
      const { developer } = request
      const { client } = request.query
      const page = referencePage(request, {
        ...readOperations(apiDescription(request.baseUrl, format)),
        clients: developer ? await clientsOf({ ...request, developer }) : [],
        chosen: typeof client === 'string' ? client : undefined,
      })
      // For those who are not logged in, it contains nothing that nobody may guess, and is compressed.
      return { page, hasSecrets: developer !== undefined }
    },
  }
}
