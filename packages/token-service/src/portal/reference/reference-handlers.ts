import type { referenceRoutes } from './reference-routes.ts'
import type { ServiceContext } from '../../service/service-context.ts'
import { referencePage, referencePolicy } from './reference-page.ts'
import type { HandlersOf } from '../portal-request.ts'

/** The API reference, from the same document as `/openapi.yaml`. */
export function referenceHandlers({ errors }: ServiceContext): HandlersOf<typeof referenceRoutes> {
  return {
    async showReference(request) {
      const page = referencePage(request, errors)
      return { page, hasSecrets: false, headers: { 'content-security-policy': referencePolicy } }
    },
  }
}
