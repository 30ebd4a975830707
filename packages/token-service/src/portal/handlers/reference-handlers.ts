import type { ServiceContext } from '../../service/service-context.ts'
import { referencePage, referencePolicy } from '../reference/reference-page.ts'
import type { Handler } from '../request/portal-request.ts'

/** The API reference, from the same document as `/openapi.yaml`. */
export function referenceHandlers({ errors }: ServiceContext) {
  return {
    async showReference(request) {
      const page = referencePage(request, errors)
      return { page, hasSecrets: false, headers: { 'content-security-policy': referencePolicy } }
    },
  } satisfies Record<string, Handler>
}
