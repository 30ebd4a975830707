import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { postgresIsAbsent, startPostgres } from '@tokenwell/internal-testing/postgres'
import { createSoakTable } from '@tokenwell/internal-testing/soak-table'
import { createKeyring, createRandomKey } from '../../src/runtime/keyring.ts'
import { temporaryFolder } from '../service-process.ts'
import { administeredService, application, requestToken, type AdministeredService } from '../test-service.ts'

const table = createSoakTable()

const count = 1_000
const clients = Array.from({ length: count }, (_, index) => ({
  ...application,
  name: `client ${index}`,
  clientId: `client-${index}`,
  clientSecret: `secret of client ${index} 0123456789`,
}))
const idOf = (key: string) => createKeyring([key]).keyIds[0]!

/**
 * Replaces the hash key twice while clients request tokens, and tries to remove keys at every moment.
 *
 * @param instances with one, no request is sent while it restarts
 */
async function replaceTwice(storage: string, instances: number): Promise<void> {
  const start = (secretHashKeys: readonly string[], seeded = false) =>
    administeredService({
      storage,
      secretHashKeys: [...secretHashKeys],
      applications: seeded ? clients : [],
      resourceServers: [],
    })
  let keys = [createRandomKey()]
  const running: AdministeredService[] = [await start(keys, true)]
  while (running.length < instances) running.push(await start(keys))
  const statuses = new Map<number, number>()
  const rejected = new Map<string, number>()

  async function use(index: number, attempt = 0): Promise<void> {
    const instance = running[(index + attempt) % running.length]
    // An instance that stops resets connections that it has not accepted.
    const response =
      instance && (await requestToken(instance.authUrl, clients[index % count]).catch(() => undefined))
    if (response) statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1)
    else await setImmediate().then(() => use(index, attempt + 1))
  }
  let next = 0
  let isRestarting = false
  const over = new AbortController()
  const loads = Array.from({ length: 4 }, async () => {
    while (!over.signal.aborted) {
      if (isRestarting) await setImmediate()
      // Not every client: some use their secret only at the end.
      else await use((next = (next + 7) % (count - 100)))
    }
  })

  /** Tries to remove a key; the names of the clients that need it, or nothing if it was removed. */
  async function remove(key: string, at = 0): Promise<string | undefined> {
    const { status, body } = await running[at]!.send('DELETE', `/hash-keys/${idOf(key)}`)
    if (status === 204) return undefined
    expect(status).toBe(409)
    const kind = /is the first one/.test(body.error) ? 'first' : 'needed'
    if (kind === 'needed') expect(body.error).toMatch(/of client-\d+/)
    rejected.set(kind, (rejected.get(kind) ?? 0) + 1)
    return body.error
  }

  async function configure(wanted: readonly string[], wrong: string): Promise<void> {
    for (const at of running.keys()) {
      isRestarting = instances === 1
      const [stopped] = running.splice(at, 1)
      await stopped!.close()
      running.splice(at, 0, await start(wanted))
      isRestarting = false
      for (const each of running.keys()) expect(await remove(wrong, each)).toBeDefined()
    }
    keys = [...wanted]
  }

  for (let rotation = 0; rotation < 2; rotation += 1) {
    const [old = ''] = keys
    const key = createRandomKey()
    if (instances > 1) await configure([old, key], old)
    await configure([key, old], old)
    // Those that the load leaves out keep the key in use until the last one.
    for (let index = count - 100; index < count; index += 1) {
      if (index % 10 === 0) expect(await remove(old, index % instances)).toContain(' of client-')
      await use(index)
    }
    await Promise.all(clients.map((_, index) => use(index)))
    expect(await remove(old)).toBeUndefined()
    for (const at of running.keys()) {
      isRestarting = instances === 1
      const [stopped] = running.splice(at, 1)
      await stopped!.close()
      running.splice(at, 0, await start([key]))
      isRestarting = false
    }
    keys = [key]
  }
  over.abort()
  await Promise.all(loads)
  for (const index of clients.keys()) await use(index)
  const responses = [...statuses.values()].reduce((sum, one) => sum + one, 0)
  await table.measure(`${instances} × ${storage.split(':')[0]}`, async () => ({
    calls: responses,
    failures: responses - (statuses.get(200) ?? 0),
    figures: [...rejected].map(([kind, times]) => `${times} × rejected: ${kind}`).join(', '),
  }))
  expect([...statuses.keys()]).toEqual([200])
  expect(rejected.get('needed')).toBeGreaterThan(20)
}

it('rejects no right secret of 1,000 clients while the hash key is replaced twice, on SQLite', async () => {
  await replaceTwice(`sqlite:${join(temporaryFolder(), 'data.db')}`, 1)
})

it.skipIf(postgresIsAbsent)('and with two instances on PostgreSQL', async () => {
  const postgres = await startPostgres()
  onTestFinished(() => postgres.stop())
  await replaceTwice(await postgres.createDatabase(), 2)
})
