import type { SafeHtml } from '@remix-run/html-template'
import type { RegisteredClient } from '../../storage/application.ts'
import { applicationFrame } from '../applications/application-frame.ts'
import type { DeveloperRequest } from '../portal-request.ts'
import { credentialsSection, type CredentialsContent } from './credentials-section.ts'

/** The credentials of an application. */
export function credentialsPage(
  request: DeveloperRequest,
  client: RegisteredClient,
  content: CredentialsContent,
): SafeHtml {
  return applicationFrame(
    request,
    client,
    'credentials',
    credentialsSection(request, ownerOf(request, client), content),
  )
}

function ownerOf({ paths }: DeveloperRequest, { application, project, secrets }: RegisteredClient) {
  const ids = [project.id, application.id]
  return {
    ...application,
    secrets,
    paths: {
      secrets: paths.secrets(...ids),
      keys: paths.keys(...ids),
      secretRevocation: (id: string) => paths.secretRevocation(...ids, id),
      key: (id: string) => paths.key(...ids, id),
      keyRemoval: (id: string) => paths.keyRemoval(...ids, id),
    },
    consequence: (credential: string) =>
      `Clients that use this ${credential} can no longer get tokens, and the tokens that were obtained with it become invalid at once.`,
  }
}
