import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { AlreadyExists } from '../../features/credentials/acts.ts'
import type { ResourceServer } from '../../features/resource-servers/storage.ts'
import type { resourceServerRoutes } from './resource-server-routes.ts'
import type { ServiceContext } from '../../service/context.ts'
import { emptyForm, type FormState } from '../layout/form.ts'
import { listState } from '../layout/list.ts'
import { line, parseForm } from '../layout/parse-form.ts'
import { audienceNames } from '../applications/application-form.ts'
import { credentialHandlers } from '../secrets/credential-handlers.ts'
import { submissionForm } from '../secrets/credential-handlers.ts'
import { resourceServerPage, resourceServerSecretPage } from './resource-server-page.ts'
import { resourceServersPage, serverName } from './resource-servers-page.ts'
import { administratorOf, requireAdministrator } from '../session/session.ts'
import { PortalError } from '../portal-error.ts'
import type { DeveloperRequest, HandlersOf } from '../portal-request.ts'

const serverForm = z.object({ name: line(200), audiences: audienceNames })

/** Without audiences, it may introspect every token. */
function settingsOf({ name, audiences }: z.output<typeof serverForm>) {
  return { name, ...(audiences.length > 0 && { audiences }) }
}

/** The APIs that may introspect tokens, for administrators. */
export function resourceServerHandlers({
  storage,
  resourceServersFor,
  perform,
  activity,
  clock,
}: ServiceContext): HandlersOf<typeof resourceServerRoutes> {
  const registryOf = (request: DeveloperRequest) => resourceServersFor(administratorOf(request))

  /** The resource server in the URL. */
  const serverOf = async (request: DeveloperRequest): Promise<ResourceServer> =>
    registryOf(request).find(request.params['clientId'] ?? '')

  async function list(request: DeveloperRequest, form: FormState, submissionId: string = randomUUID()) {
    requireAdministrator(request)
    const servers = await storage.resourceServers.list()
    const lastUses = await activity.lastUses(servers.map(({ id }) => id))
    const state = listState(request.query, { orders: ['name'] })
    const content = { servers, lastUses, nowMs: clock.now(), state, form, submissionId }
    return resourceServersPage(request, content)
  }

  async function show(request: DeveloperRequest) {
    const server = await serverOf(request)
    const { secrets, keys } = server
    const lastUses = await activity.lastUses([server, ...secrets, ...keys].map(({ id }) => id))
    const content = { server, lastUses, nowMs: clock.now(), submissionId: randomUUID() }
    return resourceServerPage(request, content)
  }

  const credentials = credentialHandlers({ perform, clock }, async (request) => {
    const { paths } = request
    const server = await serverOf(request)
    const list = paths.resourceServer(server.clientId)
    return {
      owner: { ...server, kind: 'resourceServers' },
      list,
      action: paths.resourceServerKeys(server.clientId),
      trail: [
        ['Resource servers', paths.resourceServers],
        [serverName(server), list],
      ],
      secretPage: (secret) => resourceServerSecretPage(request, { server, ...secret }),
    }
  })

  return {
    showResourceServers: async (request) => ({ page: await list(request, emptyForm) }),
    async createResourceServer(request) {
      const registry = registryOf(request)
      const id = submissionForm.safeParse(request.form).data?.submission_id
      if (id === undefined) throw new PortalError('invalid_form')
      const parsed = parseForm(serverForm, request.form)
      if (!parsed.data) return { page: await list(request, parsed.state, id), status: 422 }
      try {
        const { resourceServer: server, clientSecret } = await registry.create(settingsOf(parsed.data), id)
        return { page: resourceServerSecretPage(request, { server, clientSecret }) }
      } catch (error) {
        // The page was reloaded: the secret was shown already.
        if (!(error instanceof AlreadyExists)) throw error
        return { redirectTo: request.paths.resourceServers }
      }
    },
    showResourceServer: async (request) => ({ page: await show(request) }),
    async changeResourceServer(request) {
      const server = await serverOf(request)
      const parsed = parseForm(serverForm, request.form)
      if (!parsed.data) throw new PortalError('invalid_form')
      await registryOf(request).change(server, { audiences: null, ...settingsOf(parsed.data) })
      return {
        redirectTo: request.paths.resourceServer(server.clientId),
        notice: 'resource_server_changed',
      }
    },
    async removeResourceServer(request) {
      await registryOf(request).remove(await serverOf(request))
      return { redirectTo: request.paths.resourceServers, notice: 'resource_server_removed' }
    },
    rotateResourceServerSecret: credentials.rotateSecret,
    revokeResourceServerSecret: credentials.revokeSecret,
    showNewResourceServerKey: credentials.showNewKey,
    addResourceServerKey: credentials.addKey,
    renameResourceServerKey: credentials.renameKey,
    removeResourceServerKey: credentials.removeKey,
  }
}
