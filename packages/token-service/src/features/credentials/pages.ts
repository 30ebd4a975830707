import type { FastifyInstance } from 'fastify'
import { randomUUID } from 'node:crypto'
import { type CredentialPages, addCredentialForms } from './credential-forms.ts'
import { credentialsPage } from './credentials-section.ts'
import { secretPage } from './secret-page.ts'
import { developerPages, type DeveloperRequest } from '../../portal/page-routes.ts'
import { patterns } from '../../portal/paths.ts'
import { ownClient } from '../projects/own-projects.ts'
import type { PortalService } from '../sessions/openid-provider.ts'

/** The credentials of an application. */
export async function credentialPages(portal: FastifyInstance, service: PortalService): Promise<void> {
  const { storage, perform, activity, clock } = service
  const { get, post } = developerPages(portal)

  get(patterns.credentials, async (request) => {
    const client = await ownClient(storage, request)
    const { application, secrets } = client
    const used = [application, ...secrets, ...application.keys].map(({ id }) => id)
    const content = {
      lastUses: await activity.lastUses(used),
      nowMs: clock.now(),
      submissionId: randomUUID(),
    }
    return { page: credentialsPage(request, client, content) }
  })

  const find = async (request: DeveloperRequest): Promise<CredentialPages> => {
    const { paths } = request
    const { application, project, secrets } = await ownClient(storage, request)
    const list = paths.credentials(project.id, application.id)
    return {
      owner: { ...application, secrets, kind: 'applications' },
      list,
      action: paths.keys(project.id, application.id),
      trail: [
        ['Projects', paths.projects],
        [project.name, paths.project(project.id)],
        [application.name, list],
      ],
      secretPage: (secret) => secretPage(request, { application, project, ...secret }),
    }
  }
  addCredentialForms({ get, post }, patterns, { perform, clock, find })
}
