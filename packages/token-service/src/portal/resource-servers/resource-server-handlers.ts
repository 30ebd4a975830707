import { randomUUID } from 'node:crypto'
import { AlreadyExists } from '../../clients/application-registry.ts'
import type { ResourceServer } from '../../storage/resource-server.ts'
import type { resourceServerRoutes } from './resource-server-routes.ts'
import type { ServiceContext } from '../../oauth/service-context.ts'
import { z } from 'zod'
import { emptyForm, type FormState } from '../layout/form.ts'
import { addKeyOfForm, keyNameOfForm } from '../secrets/key-form.ts'
import { line, parseForm } from '../layout/parse-form.ts'
import { parseRotation, submissionForm } from '../secrets/rotation-form.ts'
import { newKeyPage } from '../secrets/new-key-page.ts'
import { resourceServerPage } from './resource-server-page.ts'
import { resourceServerSecretPage } from './resource-server-secret-page.ts'
import { resourceServersPage, serverName } from './resource-servers-page.ts'
import { actorOf } from '../session/actor.ts'
import { PortalError } from '../portal-error.ts'
import type { DeveloperRequest, HandlersOf } from '../portal-request.ts'
import { requireAdministrator } from '../session/require-administrator.ts'

const nameForm = z.object({ name: line(200) })

/** The APIs that may introspect tokens, for administrators. */
export function resourceServerHandlers({
  resourceServersFor,
  activity,
  clock,
}: ServiceContext): HandlersOf<typeof resourceServerRoutes> {
  /** Checks the permission; every request needs the registry. */
  function registryOf(request: DeveloperRequest) {
    requireAdministrator(request)
    return resourceServersFor(actorOf(request))
  }

  /** The resource server in the URL. */
  const serverOf = async (request: DeveloperRequest): Promise<ResourceServer> =>
    registryOf(request).find(request.params['clientId'] ?? '')

  async function list(request: DeveloperRequest, state: FormState, submissionId: string = randomUUID()) {
    const servers = await registryOf(request).list()
    const lastUses = await activity.lastUses(servers.map(({ clientId }) => clientId))
    return resourceServersPage(request, { servers, lastUses, nowMs: clock.now(), state, submissionId })
  }

  async function show(request: DeveloperRequest, server: ResourceServer, state?: FormState) {
    const { clientId, name, secrets, keys } = server
    const lastUses = await activity.lastUses([clientId, ...[...secrets, ...keys].map(({ id }) => id)])
    const named = state ?? { values: { name }, errors: {} }
    const content = { server, lastUses, nowMs: clock.now(), submissionId: randomUUID(), state: named }
    return resourceServerPage(request, content)
  }

  function showKeyForm(request: DeveloperRequest, server: ResourceServer, state: FormState) {
    const { paths } = request
    const trail = [
      ['Resource servers', paths.resourceServers],
      [serverName(server), paths.resourceServer(server.clientId)],
    ] as const
    return newKeyPage(request, { action: paths.resourceServerKeys(server.clientId), trail, state })
  }

  return {
    showResourceServers: async (request) => ({ page: await list(request, emptyForm) }),
    async createResourceServer(request) {
      const registry = registryOf(request)
      const id = submissionForm.safeParse(request.form).data?.submission_id
      if (id === undefined) throw new PortalError('invalid_form')
      const parsed = parseForm(nameForm, request.form)
      if (!parsed.data) return { page: await list(request, parsed.state, id), status: 422 }
      try {
        const { resourceServer: server, clientSecret } = await registry.create(parsed.data.name, id)
        return { page: resourceServerSecretPage(request, { server, clientSecret }) }
      } catch (error) {
        // The page was reloaded: the secret was shown already.
        if (!(error instanceof AlreadyExists)) throw error
        return { redirectTo: request.paths.resourceServers }
      }
    },
    showResourceServer: async (request) => ({ page: await show(request, await serverOf(request)) }),
    async renameResourceServer(request) {
      const server = await serverOf(request)
      const parsed = parseForm(nameForm, request.form)
      if (!parsed.data) return { page: await show(request, server, parsed.state), status: 422 }
      await registryOf(request).rename(server.clientId, parsed.data.name)
      return {
        redirectTo: request.paths.resourceServer(server.clientId),
        notice: 'resource_server_renamed',
      }
    },
    async removeResourceServer(request) {
      const { clientId } = await serverOf(request)
      await registryOf(request).remove(clientId)
      return { redirectTo: request.paths.resourceServers, notice: 'resource_server_removed' }
    },
    async rotateResourceServerSecret(request) {
      const server = await serverOf(request)
      const { clientId, secrets } = server
      const { secretId, overlapMs, existingSecrets } = parseRotation(request.form, secrets, clock.now())
      try {
        const clientSecret = await registryOf(request).rotateSecret(clientId, overlapMs, secretId)
        return { page: resourceServerSecretPage(request, { server, clientSecret, existingSecrets }) }
      } catch (error) {
        if (!(error instanceof AlreadyExists)) throw error
        return { redirectTo: request.paths.resourceServer(clientId) }
      }
    },
    async revokeResourceServerSecret(request) {
      const { clientId } = await serverOf(request)
      await registryOf(request).revokeSecret(clientId, request.params['secretId'] ?? '')
      return {
        redirectTo: request.paths.resourceServer(clientId),
        notice: 'resource_server_secret_revoked',
      }
    },
    showNewResourceServerKey: async (request) => ({
      page: showKeyForm(request, await serverOf(request), emptyForm),
    }),
    async addResourceServerKey(request) {
      const server = await serverOf(request)
      const { clientId } = server
      const state = await addKeyOfForm(request.form, (key, name) =>
        registryOf(request).addKeys(clientId, key, name),
      )
      if (state) return { page: showKeyForm(request, server, state), status: 422 }
      return { redirectTo: request.paths.resourceServer(clientId), notice: 'key_added' }
    },
    async renameResourceServerKey(request) {
      const { clientId } = await serverOf(request)
      const name = keyNameOfForm(request.form)
      await registryOf(request).renameKey(clientId, request.params['keyId'] ?? '', name)
      return { redirectTo: request.paths.resourceServer(clientId), notice: 'key_renamed' }
    },
    async removeResourceServerKey(request) {
      const { clientId } = await serverOf(request)
      await registryOf(request).removeKey(clientId, request.params['keyId'] ?? '')
      return { redirectTo: request.paths.resourceServer(clientId), notice: 'key_removed' }
    },
  }
}
