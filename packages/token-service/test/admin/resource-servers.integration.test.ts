import { join } from 'node:path'
import { exportSPKI } from 'jose'
import { describe, expect, it } from 'vitest'
import { assertionFor, assertionType, keyClientId, pair } from '../oauth/client-assertion.ts'
import { temporaryFolder } from '../service-process.ts'
import {
  application,
  basic,
  postForm,
  requestToken,
  resourceServer,
  administeredService,
} from '../test-service.ts'

const introspectionStatus = async (authUrl: string, credentials: typeof resourceServer) =>
  (await postForm(`${authUrl}/oauth/introspect`, { token: 'any' }, basic(credentials))).status

describe('resource servers', () => {
  it('are created while the service runs, and rotate their secrets with an overlap', async () => {
    const time = { now: Date.now() }
    const { authUrl, send } = await administeredService({ clock: { now: () => time.now } })
    const first = (await send('POST', '/resource-servers', { name: 'billing API' })).body
    expect(await introspectionStatus(authUrl, first)).toBe(200)
    const path = `/resource-servers/${first.clientId}`
    const second = (await send('POST', `${path}/secrets`, { overlapSeconds: 60 })).body
    expect(second.clientId).toBe(first.clientId)
    for (const each of [first, second]) expect(await introspectionStatus(authUrl, each)).toBe(200)
    time.now += 60_000
    expect(await introspectionStatus(authUrl, first)).toBe(401)
    expect(await introspectionStatus(authUrl, second)).toBe(200)

    const listed = await send('GET', '/resource-servers')
    expect(listed.body).toMatchObject([{ clientId: resourceServer.clientId }, { name: 'billing API' }])
    expect(JSON.stringify(listed.body)).not.toMatch(/hash|keyId/)
    expect((await send('PATCH', path, { name: 'invoice API' })).status).toBe(204)
    expect((await send('PATCH', path, { name: '' })).status).toBe(400)
    expect((await send('PATCH', '/resource-servers/unknown', { name: 'x' })).status).toBe(404)
    const { name, secrets } = (await send('GET', path)).body
    expect(name).toBe('invoice API')
    await send('DELETE', `${path}/secrets/${secrets[1].id}`)
    expect(await introspectionStatus(authUrl, second)).toBe(401)

    const third = (await send('POST', `${path}/secrets`, { overlapSeconds: 0 })).body
    expect(await introspectionStatus(authUrl, third)).toBe(200)
    expect((await send('DELETE', path)).status).toBe(204)
    expect(await introspectionStatus(authUrl, third)).toBe(401)
    expect((await send('GET', path)).status).toBe(404)
    expect((await send('POST', `${path}/secrets`)).status).toBe(404)
    expect((await send('POST', '/resource-servers', { name: '' })).status).toBe(400)
    const audit = String((await send('GET', '/audit')).body)
    for (const event of ['created', 'changed', 'removed'])
      expect(audit).toContain(`"resource_server_${event}"`)
    expect(audit).toContain('"secret_rotated"')
  })

  it('cannot get tokens, and applications cannot introspect', async () => {
    const { authUrl } = await administeredService()
    expect((await requestToken(authUrl, { ...application, ...resourceServer })).status).toBe(401)
    expect(await introspectionStatus(authUrl, application)).toBe(401)
  })

  it('authenticate with private_key_jwt', async () => {
    const { authUrl, send } = await administeredService({
      resourceServers: [{ clientId: keyClientId, publicKey: await exportSPKI(pair.publicKey) }],
    })
    const introspect = async (audience: string) =>
      postForm(`${authUrl}/oauth/introspect`, {
        token: 'any',
        client_assertion_type: assertionType,
        client_assertion: await assertionFor(audience),
      })
    expect((await introspect(authUrl)).status).toBe(200)
    expect((await introspect(`${authUrl}/oauth/introspect`)).status).toBe(200)
    expect((await introspect('https://other.example.com')).status).toBe(401)
    const path = `/resource-servers/${keyClientId}`
    const [key] = (await send('GET', path)).body.keys
    expect((await send('PATCH', `${path}/keys/${key.id}`, { name: 'production' })).status).toBe(204)
    expect((await send('GET', path)).body.keys).toMatchObject([{ id: key.id, name: 'production' }])
    expect((await introspect(authUrl)).status).toBe(200)
    await send('DELETE', `${path}/keys/${key.id}`)
    expect((await introspect(authUrl)).status).toBe(401)
    const added = await send('POST', `${path}/keys`, { key: await exportSPKI(pair.publicKey) })
    expect(added.status).toBe(201)
    expect((await introspect(authUrl)).status).toBe(200)
  })

  it('from the configuration keep their rotated secrets, and get a changed one', async () => {
    const storage = `sqlite:${join(temporaryFolder(), 'data.db')}`
    const time = { now: Date.now() }
    const clock = { now: () => time.now }
    const start = (clientSecret: string) => {
      const resourceServers = [{ ...resourceServer, clientSecret }]
      return administeredService({ storage, clock, resourceServers, secretOverlapSeconds: 60 })
    }
    const first = await start(resourceServer.clientSecret)
    const path = `/resource-servers/${resourceServer.clientId}`
    const rotated = (await first.send('POST', `${path}/secrets`)).body
    await first.close()

    const changed = { ...resourceServer, clientSecret: 'changed-secret-0123456789' }
    const second = await start(changed.clientSecret)
    for (const each of [resourceServer, rotated, changed]) {
      expect(await introspectionStatus(second.authUrl, each)).toBe(200)
    }
    time.now += 60_000
    expect(await introspectionStatus(second.authUrl, resourceServer)).toBe(401)
    const { secrets } = (await second.send('GET', path)).body
    await second.send('DELETE', `${path}/secrets/${secrets.at(-1).id}`)
    await second.close()

    const third = await start(changed.clientSecret)
    expect(await introspectionStatus(third.authUrl, changed)).toBe(401)
    expect(await introspectionStatus(third.authUrl, rotated)).toBe(200)
  })
})
