import { UsageError } from '@tokenwell/token-service'
import type { ServiceContext } from '@tokenwell/token-service/plugin'
import { z } from 'zod'
import { emptyForm } from '../components/form.ts'
import { line, parseForm } from '../forms/parse-form.ts'
import { finiteOverlaps } from '../forms/secret-overlaps.ts'
import { resourceServersPage, type ResourceServersContent } from '../pages/resource-servers-page.ts'
import { actorOf } from '../request/actor.ts'
import { PortalError } from '../request/portal-error.ts'
import type { DeveloperHandler, DeveloperRequest, PortalResponse } from '../request/portal-request.ts'
import { requireAdministrator } from './require-administrator.ts'

const serverForm = z.object({ name: line(200) })
const rotationForm = z.object({ overlap: z.enum(finiteOverlaps.map(([value]) => value)) })

/** The APIs that may introspect tokens, for administrators. */
export function resourceServerHandlers({ resourceServersFor, clock }: ServiceContext) {
  async function show(
    request: DeveloperRequest,
    content: Partial<ResourceServersContent> = {},
  ): Promise<PortalResponse> {
    const servers = await resourceServersFor(actorOf(request)).list()
    return {
      page: resourceServersPage(request, { servers, state: emptyForm, nowMs: clock.now(), ...content }),
    }
  }

  /** Another administrator may have removed the resource server. */
  async function change<Result>(run: Promise<Result>): Promise<Result> {
    try {
      return await run
    } catch (error) {
      throw error instanceof UsageError ? new PortalError('not_found') : error
    }
  }

  return {
    async showResourceServers(request) {
      requireAdministrator(request)
      return show(request)
    },
    async createResourceServer(request) {
      requireAdministrator(request)
      const parsed = parseForm(serverForm, request.form)
      if (!parsed.data) return { ...(await show(request, { state: parsed.state })), status: 422 }
      const { resourceServer, clientSecret } = await resourceServersFor(actorOf(request)).create(
        parsed.data.name,
      )
      return show(request, { newSecret: { clientId: resourceServer.clientId, clientSecret } })
    },
    async rotateResourceServerSecret(request) {
      requireAdministrator(request)
      const clientId = request.params['clientId'] ?? ''
      const { data } = rotationForm.safeParse(request.form)
      if (!data) throw new PortalError('invalid_form')
      const seconds = finiteOverlaps.find(([value]) => value === data.overlap)?.[2] ?? 0
      const registry = resourceServersFor(actorOf(request))
      const clientSecret = await change(registry.rotateSecret(clientId, seconds * 1000))
      return show(request, { newSecret: { clientId, clientSecret } })
    },
    async revokeResourceServerSecret(request) {
      requireAdministrator(request)
      const { clientId = '', secretId = '' } = request.params
      await change(resourceServersFor(actorOf(request)).revokeSecret(clientId, secretId))
      return { redirectTo: request.paths.resourceServers, notice: 'secret_revoked' }
    },
    async removeResourceServer(request) {
      requireAdministrator(request)
      await change(resourceServersFor(actorOf(request)).remove(request.params['clientId'] ?? ''))
      return { redirectTo: request.paths.resourceServers, notice: 'resource_server_removed' }
    },
  } satisfies Record<string, DeveloperHandler>
}
