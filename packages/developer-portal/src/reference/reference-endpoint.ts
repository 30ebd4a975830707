import type { FastifyInstance } from 'fastify'
import { apiDescription, baseUrl, type ServiceContext } from '@tokenwell/token-service/plugin'
import { sendPage } from '../components/send-page.ts'
import { referencePath, type Paths } from '../request/routes.ts'
import { referencePage } from './reference-page.ts'

/** Serves the API reference, generated from the same document as `/openapi.yaml`. */
export function referenceEndpoint(
  server: FastifyInstance,
  { errors, publicUrl }: ServiceContext,
  paths: Paths,
): void {
  server.get(referencePath, { exposeHeadRoute: false }, (request, reply) => {
    const description = apiDescription(baseUrl(request, publicUrl), errors)
    return sendPage(reply, referencePage(description, paths))
  })
}
