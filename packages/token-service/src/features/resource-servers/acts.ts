import { randomUUID } from 'node:crypto'
import { NotFoundError } from '../../runtime/usage-error.ts'
import { changesOf, type Act } from '../../storage/act.ts'
import { createClientId, createClientSecret, storedSecret } from '../credentials/acts.ts'
import { resourceServerStorage, type ResourceServer, type ResourceServerStorage } from './storage.ts'

/** @throws {@link NotFoundError} if no resource server has that client ID */
export async function findResourceServer(
  resourceServers: Pick<ResourceServerStorage, 'find'>,
  clientId: string,
): Promise<ResourceServer> {
  const server = await resourceServers.find(clientId)
  if (!server) throw new NotFoundError(`There is no resource server with the client ID "${clientId}".`)
  return server
}

/** Creates an API that may introspect tokens; returns its secret, once. */
export async function createResourceServer(
  act: Act,
  { name, audiences }: Pick<ResourceServer, 'name' | 'audiences'>,
): Promise<{ id: string; resourceServer: ResourceServer; clientSecret: string }> {
  const id = randomUUID()
  const nowMs = act.clock.now()
  const clientSecret = createClientSecret()
  const secrets = [storedSecret(act.keyring, { ownerId: id, value: clientSecret, nowMs })]
  const clientId = createClientId()
  const settings = { name, ...(audiences && { audiences }) }
  const resourceServer = { id, clientId, ...settings, createdAtMs: nowMs, secrets, keys: [], revision: 0 }
  await resourceServerStorage(act).create(resourceServer)
  act.audit('resource_server_created', { clientId, changes: changesOf(settings) })
  return { id, resourceServer, clientSecret }
}

interface ResourceServerChanges {
  readonly name?: string | undefined
  /** `null` ends the restriction. */
  readonly audiences?: readonly string[] | null | undefined
}

/** `check` compares what somebody has seen with what there is. @throws {@link NotFoundError} without one */
export async function changeResourceServer(
  act: Act,
  clientId: string,
  { name, audiences }: ResourceServerChanges,
  check: (current: ResourceServer) => void = () => {},
): Promise<void> {
  const resourceServers = resourceServerStorage(act)
  const current = await findResourceServer(resourceServers, clientId)
  check(current)
  const changes = { ...(name !== undefined && { name }), ...(audiences !== undefined && { audiences }) }
  await resourceServers.update(current.id, changes)
  act.audit('resource_server_changed', { clientId, changes: changesOf(changes, current) })
}

/** A configured resource server is created again at the next start. @throws {@link NotFoundError} without one */
export async function removeResourceServer(act: Act, clientId: string): Promise<void> {
  const resourceServers = resourceServerStorage(act)
  const { id, name } = await findResourceServer(resourceServers, clientId)
  await resourceServers.remove(id)
  act.audit('resource_server_removed', { clientId, detail: name })
}
