import type { FastifyInstance } from 'fastify'
import { baseUrl } from '../http/base-url.ts'
import type { ErrorShape } from '../http/error-body.ts'

/** Serves the API reference browser, made of the same description as `/openapi.yaml`; loaded when someone comes. */
export function referenceEndpoint(
  server: FastifyInstance,
  errors: ErrorShape,
  publicUrl: string | undefined,
): void {
  server.get('/reference', { exposeHeadRoute: false }, async (request, reply) => {
    const [{ apiDescription }, { referencePage }, { createPaths }, { sendPage }] = await Promise.all([
      import('../openapi/api-description.ts'),
      import('./reference-page.ts'),
      import('../portal/paths.ts'),
      import('../portal/page/send-page.ts'),
    ])
    const description = apiDescription(baseUrl(request, publicUrl), errors)
    return sendPage(reply, referencePage(description, createPaths(publicUrl)))
  })
}
