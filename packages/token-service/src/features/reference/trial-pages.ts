import type { FastifyInstance } from 'fastify'
import { describeToken } from '../../oauth/describe-token.ts'
import { tokenPath } from '../../oauth/endpoint-paths.ts'
import { errorBody } from '../../oauth/error-body.ts'
import { createTokenIssuer } from '../../oauth/issue-token.ts'
import { clientForm, parseParameters, presentedToken } from '../../oauth/parameters.ts'
import { ProtocolError } from '../../oauth/protocol-error.ts'
import { accessTokenHash, isActive } from '../../oauth/token-storage.ts'
import { developerPages, type DeveloperRequest, type PortalResponse } from '../../portal/page-routes.ts'
import { patterns } from '../../portal/paths.ts'
import { actorOf } from '../sessions/session.ts'
import type { ServiceContext } from '../context.ts'
import type { RegisteredClient } from '../../storage/application.ts'

/** How long the token of somebody who tries a request is valid. */
const lifetimeMs = 5 * 60_000

/**
 * The requests of the API reference, as one of the developer's own applications: nobody types a secret. Their tokens are
 * valid for five minutes at most, and no longer than the developer is one; each is written to the audit log.
 */
export async function trialPages(portal: FastifyInstance, service: ServiceContext): Promise<void> {
  const { storage, perform, activity, clock, format } = service
  const { post } = developerPages(portal)

  async function isOwn({ developer }: DeveloperRequest, projectId: string): Promise<boolean> {
    return developer.administrator || (await storage.developers.projectIds(developer.id)).includes(projectId)
  }

  async function ownClient(request: DeveloperRequest): Promise<RegisteredClient> {
    const { data: clientId } = clientForm.shape.client_id.safeParse(request.form['client_id'])
    const client = clientId === undefined ? undefined : await storage.applications.findClient(clientId)
    if (client && (await isOwn(request, client.project.id))) return client
    throw new ProtocolError('invalid_client')
  }

  /** The token in the form, if it is one of the developer's own applications. */
  async function ownToken(request: DeveloperRequest) {
    const { token: value } = parseParameters(presentedToken, request.form)
    const found = await storage.tokens.find(accessTokenHash(value))
    if (!found || !(await isOwn(request, found.application.projectId))) return { value }
    return { value, found }
  }

  /** Responds as the endpoint would, to errors too. */
  const respond =
    (handle: (request: DeveloperRequest) => Promise<object>) =>
    async (request: DeveloperRequest): Promise<PortalResponse> => {
      try {
        return { json: await handle(request) }
      } catch (error) {
        if (!(error instanceof ProtocolError)) throw error
        const { status, body } = errorBody(error, format)
        return { json: body, status }
      }
    }

  post(
    patterns.tryToken,
    respond(async (request) => {
      const { form, developer, address, baseUrl } = request
      const client = await ownClient(request)
      const { clientId } = client.application
      await perform(actorOf(request), async ({ audit }) => audit('token_tried', { clientId }))
      const issue = createTokenIssuer({
        ...service,
        authenticateApplication: async () => ({
          client,
          credential: { id: developer.id, expiresAtMs: clock.now() + lifetimeMs },
        }),
        // Neither the application nor the developer counts as used.
        activity: {
          ...activity,
          tokenRequested: (outcome) => activity.tokenRequested({ ...outcome, used: [] }),
        },
      })
      const { response } = await issue({
        query: { grant_type: 'client_credentials' },
        form: { ...form, client_id: clientId, client_secret: 'of the portal' },
        authorization: undefined,
        dpop: undefined,
        caller: { address, audiences: () => [] },
        url: () => `${baseUrl}${tokenPath}`,
        issuer: () => baseUrl,
      })
      return response
    }),
  )

  post(
    patterns.tryIntrospection,
    respond(async (request) => {
      const { value, found } = await ownToken(request)
      return found && isActive(found, clock.now()) ? describeToken(value, found) : { active: false }
    }),
  )

  post(
    patterns.tryRevocation,
    respond(async (request) => {
      const { value, found } = await ownToken(request)
      if (!found) return {}
      const { clientId } = found.application
      await perform(actorOf(request), async ({ audit }) => audit('token_revoked', { clientId }))
      await storage.tokens.remove(accessTokenHash(value))
      return {}
    }),
  )
}
