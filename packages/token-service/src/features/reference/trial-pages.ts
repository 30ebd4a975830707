import type { FastifyInstance } from 'fastify'
import { describeToken } from '../../oauth/describe-token.ts'
import { tokenPath } from '../../oauth/endpoint-paths.ts'
import { errorBody } from '../../oauth/error-body.ts'
import { createTokenIssuer } from '../../oauth/issue-token.ts'
import { parseParameters, presentedToken, withoutEmptyParameters } from '../../oauth/parameters.ts'
import { ProtocolError } from '../../oauth/protocol-error.ts'
import { accessTokenHash } from '../../oauth/token-storage.ts'
import { developerPages, type DeveloperRequest, type PortalResponse } from '../../portal/page-routes.ts'
import { patterns } from '../../portal/paths.ts'
import { readChoice } from '../search/choices.ts'
import { actorOf } from '../sessions/session.ts'
import type { ServiceContext } from '../context.ts'
import type { RegisteredClient } from '../../storage/application.ts'

/** Nobody can be asked for it: what was typed names none of the developer's applications. */
class UnknownChoice extends Error {}

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
    const choice = await readChoice(storage, request, 'applications', request.form['client_id'])
    if ('error' in choice) throw new UnknownChoice(choice.error)
    return (await storage.applications.findClient(choice.id))!
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
        if (error instanceof UnknownChoice) return { json: { error: error.message }, status: 422 }
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
      const { clientId, projectId } = client.application
      await perform(actorOf(request, projectId), async ({ audit }) => audit('token_tried', { clientId }))
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
        form: { ...withoutEmptyParameters(form), client_id: clientId, client_secret: 'of the portal' },
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
      return describeToken(value, found, clock.now())
    }),
  )

  post(
    patterns.tryRevocation,
    respond(async (request) => {
      const { value, found } = await ownToken(request)
      if (!found) return {}
      const { clientId, projectId } = found.application
      await perform(actorOf(request, projectId), async ({ audit }) => audit('token_revoked', { clientId }))
      await storage.tokens.remove(accessTokenHash(value))
      return {}
    }),
  )
}
