import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  postgresIsAbsent,
  startPostgres,
  withoutPostgres,
  type PostgresCluster,
} from '@tokenwell/internal-testing/postgres'
import { createKeyring } from '../../../src/runtime/keyring.ts'
import { createServiceLogger } from '../../../src/command/service-logger.ts'
import { temporaryFolder } from '../../service-process.ts'
import {
  administeredService,
  application,
  basic,
  postForm,
  requestToken,
  resourceServer,
  serviceWithContext,
  type AdministeredService,
} from '../../test-service.ts'

const old = 'an old hash key of the operator 0123456789'
const current = 'the current hash key of the operator 0123'
const newest = 'the newest hash key of the operator 01234'
const [oldId, currentId, newestId] = [old, current, newest].map((key) => createKeyring([key]).keyIds[0]!) as [
  string,
  string,
  string,
]
const other = {
  ...application,
  name: 'other',
  clientId: 'other-client',
  clientSecret: 'other-secret-0123456789',
}
const clients = { applications: [application, other], resourceServers: [resourceServer] }
const nobody = { applications: [], resourceServers: [] }

const useResourceServer = (authUrl: string) =>
  postForm(`${authUrl}/oauth/introspect`, { token: 'unknown' }, basic(resourceServer))

const listed = async ({ send }: AdministeredService) =>
  (await send('GET', '/hash-keys')).body as {
    id: string
    state: string
    secrets: number
    neededBy: { clientId: string; lastUsedAtMs?: number }[]
  }[]

const remove = ({ send }: AdministeredService, id: string) => send('DELETE', `/hash-keys/${id}`)

function describeHashKeys(createStorage: () => Promise<string>): void {
  async function started(secretHashKeys: string[], storage: string, more: object = {}) {
    const lines: string[] = []
    const logger = createServiceLogger('warn', { write: (line) => void lines.push(line) })
    const service = await administeredService({ storage, secretHashKeys, logger, ...nobody, ...more })
    return { ...service, lines }
  }

  it('hashes each secret with the current key when its client next uses it', async () => {
    const storage = await createStorage()
    await (await started([old], storage, clients)).close()
    const service = await started([current, old], storage)
    expect(await listed(service)).toEqual([
      { id: currentId, state: 'current', secrets: 0, neededBy: [] },
      {
        id: oldId,
        state: 'older',
        secrets: 3,
        neededBy: ['demo-client', 'other-client', 'speech-api'].map((clientId) => ({ clientId })),
      },
    ])
    expect((await requestToken(service.authUrl, { ...application, clientSecret: 'wrong' })).status).toBe(401)
    expect((await requestToken(service.authUrl)).status).toBe(200)
    expect((await useResourceServer(service.authUrl)).status).toBe(200)
    expect(await listed(service)).toMatchObject([
      { id: currentId, secrets: 2 },
      { id: oldId, secrets: 1, neededBy: [{ clientId: 'other-client' }] },
    ])
    await service.close()
    const without = await started([current], storage)
    expect((await requestToken(without.authUrl)).status).toBe(200)
    expect((await useResourceServer(without.authUrl)).status).toBe(200)
    expect((await requestToken(without.authUrl, other)).status).toBe(401)
  })

  it('rejects the removal of a key while a secret needs it, and names the clients', async () => {
    const storage = await createStorage()
    await (await started([old], storage, clients)).close()
    const service = await started([current, old], storage)
    await requestToken(service.authUrl)
    const early = await remove(service, oldId)
    expect([early.status, early.body.error]).toEqual([
      409,
      `The key "${oldId}" cannot be removed: 2 secrets need it, of other-client, speech-api. A secret is hashed with the first key when its client next uses it. Rotate or revoke those that are not used.`,
    ])
    const first = await remove(service, currentId)
    expect([first.status, first.body.error]).toEqual([
      409,
      `The key "${currentId}" is the first one in secretHashKeys, which new secrets are hashed with. Put another key before it, and restart.`,
    ])
    expect(await remove(service, newestId)).toMatchObject({ status: 404 })
    await requestToken(service.authUrl, other)
    await useResourceServer(service.authUrl)
    expect((await remove(service, oldId)).status).toBe(204)
    expect((await remove(service, oldId)).status).toBe(204)
    expect(await listed(service)).toMatchObject([
      { id: currentId, state: 'current', secrets: 3 },
      { id: oldId, state: 'removed', secrets: 0 },
    ])
    const [entry] = await service.context.storage.audit.list(1)
    expect(entry).toMatchObject({ event: 'hash_key_removed', detail: oldId, actorType: 'api' })
  })

  it('keeps a configured secret revoked when the key that it was hashed with is gone', async () => {
    const storage = await createStorage()
    let service = await started([old], storage, clients)
    const path = `/applications/${application.clientId}`
    const { secrets } = (await service.send('GET', path)).body
    expect((await service.send('DELETE', `${path}/secrets/${secrets[0].id}`)).status).toBe(204)
    await service.close()

    service = await started([current, old], storage, clients)
    await requestToken(service.authUrl, other)
    await useResourceServer(service.authUrl)
    expect((await remove(service, oldId)).status).toBe(204)
    await service.close()

    service = await started([current], storage, clients)
    expect((await requestToken(service.authUrl)).status).toBe(401)
    expect((await requestToken(service.authUrl, other)).status).toBe(200)
    expect(service.lines.join()).toContain('has expired or was revoked')
  })

  it('purges on after the key that signed the time of the last purge is gone', async () => {
    const storage = await createStorage()
    let service = await started([old], storage, clients)
    const { storage: before, keyring } = service.context
    await before.purgeTime.set(1_000, keyring)
    await service.close()
    service = await started([current, old], storage, { ...nobody })
    for (const client of [application, other]) await requestToken(service.authUrl, client)
    await useResourceServer(service.authUrl)
    expect((await remove(service, oldId)).status).toBe(204)
    await service.close()
    service = await started([current], storage)
    expect(await service.context.storage.purgeTime.find(createKeyring([current]))).toBeDefined()
  })

  it('starts without a key that secrets need, names their clients, and is degraded', async () => {
    const storage = await createStorage()
    await (await started([old], storage, clients)).close()
    const both = await started([current, old], storage)
    await requestToken(both.authUrl)
    await both.send('PUT', '/products/new')
    await both.close()
    const service = await started([current], storage)
    const text = service.lines.join('')
    expect(text).toContain(
      `The key \\"${oldId}\\" is missing in secretHashKeys: 2 secrets are rejected, of other-client, speech-api.`,
    )
    const ready = await fetch(`${service.authUrl}/readyz`)
    expect([ready.status, await ready.json()]).toEqual([
      200,
      { status: 'degraded', missingHashKeys: [oldId] },
    ])
    expect((await service.send('GET', '/metrics')).body).toContain('tokenwell_missing_hash_keys 1\n')
    expect((await requestToken(service.authUrl)).status).toBe(200)
    expect((await listed(service))[1]).toMatchObject({ id: oldId, state: 'missing', secrets: 2 })
    for (const path of ['applications/other-client', 'resource-servers/speech-api'])
      expect((await service.send('POST', `/${path}/secrets`, { overlapSeconds: 0 })).status).toBe(201)
    await service.close()
    const again = await started([current], storage)
    expect(await (await fetch(`${again.authUrl}/readyz`)).json()).toEqual({ status: 'ok' })
  })

  it('does not start without any of the keys, or with a removed one as the first', async () => {
    const storage = await createStorage()
    await (await started([old], storage, { ...nobody, applications: [application] })).close()
    await expect(started([newest], storage)).rejects.toThrow('None of the keys matches this database.')
    const service = await started([current, old], storage)
    await requestToken(service.authUrl)
    expect((await remove(service, oldId)).status).toBe(204)
    await service.close()
    await expect(started([old, current], storage)).rejects.toThrow(
      `The first key in secretHashKeys, "${oldId}", was removed on `,
    )
  })

  it('does not hash a secret again that has expired meanwhile, was rotated, or with a removed key', async () => {
    const { context } = await serviceWithContext({ storage: await createStorage(), secretHashKeys: [old] })
    const { applications, activity, database } = { ...context.storage, ...context }
    const stored = async () => (await applications.findClient(application.clientId))!.secrets[0]!
    const secret = await stored()
    const rehash = { id: secret.id, oldHash: secret.hash, keyId: currentId, hash: 'another' }
    activity.rehash({ ...rehash, oldHash: 'not this one' })
    await activity.flush()
    await context.storage.secrets.expire(secret.id, context.clock.now() - 1)
    activity.rehash(rehash)
    await activity.flush()
    await context.storage.secrets.expire(secret.id, context.clock.now() + 60_000)
    const removed = { keyId: currentId, removedAtMs: 1 }
    await database.query.insertInto('removedHashKeys').values(removed).execute()
    activity.rehash(rehash)
    await activity.flush()
    expect(await stored()).toMatchObject({ keyId: oldId, hash: secret.hash })
    await database.query.deleteFrom('removedHashKeys').execute()
    activity.rehash(rehash)
    await activity.flush()
    expect(await stored()).toMatchObject({ keyId: currentId, hash: 'another' })
  })
}

describe('hash keys in SQLite', () => {
  describeHashKeys(async () => `sqlite:${join(temporaryFolder(), 'data.db')}`)
})

describe.skipIf(postgresIsAbsent)(`hash keys in PostgreSQL (${withoutPostgres})`, () => {
  let postgres: PostgresCluster
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres.stop())

  describeHashKeys(() => postgres.createDatabase())

  it('of two instances: what one removed, the other neither hashes nor signs with', async () => {
    const storage = await postgres.createDatabase()
    const start = (secretHashKeys: string[], more: object = nobody) =>
      administeredService({ storage, secretHashKeys, ...more })
    await (await start([old], clients)).close()
    const late = await start([old, current])
    const early = await start([current, old])
    for (const client of [application, other]) await requestToken(early.authUrl, client)
    await useResourceServer(early.authUrl)
    await early.context.activity.flush()
    // The one that still has the old key first hashes back.
    await requestToken(late.authUrl, other)
    await late.context.activity.flush()
    expect((await remove(early, oldId)).body.error).toContain('of other-client.')
    await requestToken(early.authUrl, other)
    expect((await remove(early, oldId)).status).toBe(204)
    for (const client of [application, other]) {
      expect((await requestToken(late.authUrl, client)).status).toBe(200)
      await late.context.activity.flush()
    }
    const rotated = await late.send('POST', `/applications/${other.clientId}/secrets`, {})
    expect([rotated.status, rotated.body.error]).toEqual([
      400,
      expect.stringContaining('Put the keys of the other'),
    ])
    expect((await listed(early)).find(({ id }) => id === oldId)).toMatchObject({
      state: 'removed',
      secrets: 0,
    })
  })
})
