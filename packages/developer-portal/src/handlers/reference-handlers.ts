import { apiDescription, type ServiceContext } from '@tokenwell/token-service/plugin'
import { referencePage, referencePolicy } from '../reference/reference-page.ts'
import type { Handler } from '../request/portal-request.ts'

/** The API reference, generated from the same document as `/openapi.yaml`. */
export function referenceHandlers({ errors }: ServiceContext) {
  return {
    async showReference(request) {
      const page = referencePage(request, apiDescription(request.baseUrl, errors))
      return { page, headers: { 'content-security-policy': referencePolicy } }
    },
  } satisfies Record<string, Handler>
}
