import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { featureOperations } from '../features/all-operations.ts'
import { createPasswordLink, findDeveloper, inviteDeveloper } from '../features/people/acts.ts'
import { createAdminServer } from '../admin/admin-server.ts'
import { listen, type ListenerAddress, requestsHaveArrived, stopAccepting } from '../http/listen.ts'
import { createRoutes } from './routes.ts'
import { NotFoundError } from '../runtime/usage-error.ts'
import { portalLinks } from '../oauth/base-url.ts'
import { createControlServer } from '../sandbox/control-server.ts'
import { createSandbox } from '../sandbox/sandbox.ts'
import { openService, type OpenService } from './open-service.ts'
import type { Actor } from '../storage/audit-storage.ts'
import type { ServiceContext } from '../features/context.ts'
import type { RunningTokenService } from './running-token-service.ts'
import type { ResolvedOptions } from './service-settings.ts'

/** Opens the service and listens for its requests. */
export async function serveTokenService(options: ResolvedOptions): Promise<RunningTokenService> {
  return serve(await openService(options, options.sandbox && createSandbox(options.clock)))
}

/** Listens for the requests to a service. */
export async function serve(service: OpenService): Promise<RunningTokenService> {
  const { context, options, sandbox } = service
  const servers: FastifyInstance[] = []
  let closing: Promise<void> | undefined

  function listenWith(server: FastifyInstance, address: ListenerAddress): Promise<string> {
    servers.push(server)
    return listen(server, address)
  }

  async function close({ drainSeconds = 0 } = {}): Promise<void> {
    service.isStopping = true
    if (drainSeconds > 0) await drain(drainSeconds)
    await (closing ??= closeAll())
  }

  async function drain(seconds: number): Promise<void> {
    service.closesConnections = true
    await delay(seconds * 1000)
    // Clients would lose a connection that they open at the moment when the listener closes: now they keep theirs.
    service.closesConnections = false
    await Promise.all(servers.map((server) => stopAccepting(server)))
    service.closesConnections = true
    await requestsHaveArrived()
  }

  async function closeAll(): Promise<void> {
    await Promise.all(servers.map((server) => server.close()))
    await context.close()
  }

  try {
    const authUrl = await listenWith(createRoutes(service), options)
    const sandboxUrl =
      sandbox && (await listenWith(createControlServer(sandbox, context.reset), options.sandbox ?? {}))
    const links = createPortalLinks(options, context, authUrl)
    const { adminPort: port, adminHost: host, adminToken = '' } = options
    const adminUrl =
      port === undefined
        ? undefined
        : await listenWith(createAdminServer(adminToken, service, links, featureOperations), { port, host })
    return {
      authUrl,
      adminUrl,
      sandboxUrl,
      createSetupLink: () => links.createSetupLink(),
      createPasswordLink: (name) => links.createPasswordLink({ actorType: 'command' }, name),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

function createPortalLinks(
  { portal, publicUrl }: ResolvedOptions,
  { storage, perform }: ServiceContext,
  authUrl: string,
) {
  const base = publicUrl ?? authUrl
  const invitation = async (by: Actor, administrator: boolean) => {
    const { id, token } = await perform(by, (act) => inviteDeveloper(act, { administrator }))
    return { id, link: `${base}${portalLinks.join(token)}` }
  }
  const requirePortal = () => {
    if (!portal) throw new NotFoundError('This service has no developer portal.')
  }
  return {
    async createSetupLink() {
      if (!portal) return undefined
      await storage.opened
      if (await storage.developers.hasAdministrator()) return undefined
      return (await invitation({ actorType: 'service' }, true)).link
    },
    async createInvitation(by: Actor) {
      requirePortal()
      return invitation(by, !(await storage.developers.hasAdministrator()))
    },
    async createPasswordLink(by: Actor, name: string) {
      requirePortal()
      await storage.opened
      const developer = await findDeveloper(storage.developers, name)
      const token = await perform(by, (act) => createPasswordLink(act, developer))
      return `${base}${portalLinks.newPassword(token)}`
    },
  }
}
