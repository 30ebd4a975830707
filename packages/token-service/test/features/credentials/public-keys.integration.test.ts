import { join } from 'node:path'
import { exportJWK, exportSPKI, generateKeyPair } from 'jose'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { assertionFor, jwksOf, keyClientId, pair, present } from '../../oauth/client-assertion.ts'
import { temporaryFolder } from '../../service-process.ts'
import { administeredService, application, introspect, resourceServer } from '../../test-service.ts'

describe('public keys of an application', () => {
  it('are added and removed by administrators; removing a key revokes its tokens permanently', async () => {
    const { authUrl, send } = await administeredService({
      applications: [{ ...application, clientId: keyClientId }],
    })
    const path = `/applications/${keyClientId}`
    const request = async (key = pair.privateKey) => present(authUrl, await assertionFor(authUrl, { key }))
    expect((await request()).status).toBe(401)

    const pem = await exportSPKI(pair.publicKey)
    const added = await send('POST', `${path}/keys`, { key: pem })
    expect(added).toMatchObject({ status: 201, body: [{ id: expect.any(String), name: expect.any(String) }] })
    const second = await generateKeyPair('ES256', { extractable: true })
    const set = { keys: [{ ...(await exportJWK(second.publicKey)), kid: 'second' }] }
    expect((await send('POST', `${path}/keys`, { key: `\n${JSON.stringify(set)}\n` })).body).toMatchObject([
      { name: 'second' },
    ])
    const [one, other] = [(await request()).body, (await request(second.privateKey)).body]
    const isActive = async (token: { access_token: string }) =>
      (await introspect(authUrl, token.access_token)).body.active
    expect([await isActive(one), await isActive(other)]).toEqual([true, true])

    const { keys, secrets } = (await send('GET', path)).body
    expect(keys).toHaveLength(2)
    expect((await send('DELETE', `${path}/keys/${added.body[0].id}`)).status).toBe(204)
    expect((await request()).status).toBe(401)
    expect([await isActive(one), await isActive(other)]).toEqual([false, true])
    await send('POST', `${path}/keys`, { key: pem })
    expect((await request()).status).toBe(200)
    expect(await isActive(one)).toBe(false)
    // Without a secret the application goes on.
    await send('DELETE', `${path}/secrets/${secrets[0].id}`)
    expect((await request()).status).toBe(200)
    const audit = String((await send('GET', '/audit')).body)
    expect(audit).toContain('"event":"key_added"')
    expect(audit).toContain('"event":"key_removed"')
  })

  it('have names that administrators choose and change', async () => {
    const { send } = await administeredService()
    const path = `/applications/${application.clientId}/keys`
    const key = await exportSPKI(pair.publicKey)
    const [{ id, name }] = (await send('POST', path, { key, name: 'build server' })).body
    expect(name).toBe('build server')
    expect((await send('PATCH', `${path}/${id}`, { name: ' production ' })).status).toBe(204)
    const { keys } = (await send('GET', `/applications/${application.clientId}`)).body
    expect(keys).toMatchObject([{ id, name: 'production', jwk: expect.anything() }])
    expect((await send('PATCH', `${path}/${id}`, { name: ' ' })).status).toBe(400)
    expect((await send('PATCH', `${path}/unknown`, { name: 'x' })).status).toBe(404)
    expect(String((await send('GET', '/audit')).body)).toContain(`"event":"key_renamed"`)
  })

  it('are public keys only, ten at most', async () => {
    const { send } = await administeredService()
    const path = `/applications/${application.clientId}/keys`
    const { keys } = await jwksOf(pair.privateKey)
    const rejected = await send('POST', path, { key: JSON.stringify(keys[0]) })
    expect([rejected.status, rejected.body.error]).toEqual([400, expect.stringContaining('private')])
    const {
      keys: [key],
    } = await jwksOf(pair.publicKey)
    const many = { keys: Array.from({ length: 11 }, (_, index) => ({ ...key, kid: String(index) })) }
    expect((await send('POST', path, { key: JSON.stringify(many) })).status).toBe(400)
    expect((await send('DELETE', `${path}/unknown`)).status).toBe(204)
  })

  it('from the configuration keep their new names', async () => {
    const storage = `sqlite:${join(temporaryFolder(), 'data.db')}`
    const jwksUrl = 'https://client.example.com/jwks.json'
    const start = async () =>
      administeredService({ storage, applications: [{ name: 'by key', clientId: keyClientId, jwksUrl }] })
    const path = `/applications/${keyClientId}`
    const first = await start()
    const [{ id, name }] = (await first.send('GET', path)).body.keys
    expect(name).toBe(jwksUrl)
    await first.send('PATCH', `${path}/keys/${id}`, { name: 'production' })
    await first.close()
    const second = await start()
    expect((await second.send('GET', path)).body.keys).toMatchObject([{ id, name: 'production', jwksUrl }])
  })

  it('from the configuration are kept up to date, and removed ones stay removed', async () => {
    const storage = `sqlite:${join(temporaryFolder(), 'data.db')}`
    const other = await generateKeyPair('ES256', { extractable: true })
    let log = ''
    const logger = pino({ level: 'warn' }, { write: (line) => void (log += line) })
    const start = async (...keys: (typeof pair.publicKey)[]) =>
      administeredService({
        storage,
        logger,
        resourceServers: [resourceServer],
        applications: [{ name: 'by key', clientId: keyClientId, jwks: await jwksOf(...keys) }],
      })
    const request = async ({ authUrl }: { authUrl: string }, key = pair.privateKey) =>
      present(authUrl, await assertionFor(authUrl, { key }))

    const first = await start(pair.publicKey)
    const { body } = await request(first)
    await first.close()
    expect(log).toBe('')

    const second = await start(pair.publicKey, other.publicKey)
    expect(log).toContain('The configured keys of \\"key-client\\" were changed.')
    expect((await introspect(second.authUrl, body.access_token)).body.active).toBe(true)
    expect((await request(second, other.privateKey)).status).toBe(200)
    const { keys } = (await second.send('GET', `/applications/${keyClientId}`)).body
    await second.send('DELETE', `/applications/${keyClientId}/keys/${keys[1].id}`)
    await second.close()

    const third = await start(pair.publicKey, other.publicKey)
    expect(log).toContain('An administrator removed a configured key')
    expect((await request(third, other.privateKey)).status).toBe(401)
    expect((await request(third)).status).toBe(200)
    await third.close()

    const fourth = await start(other.publicKey)
    expect((await request(fourth)).status).toBe(401)
    expect((await introspect(fourth.authUrl, body.access_token)).body.active).toBe(false)
  })

  it('from the configuration stay removed when an older configuration comes back, and count no more', async () => {
    const storage = `sqlite:${join(temporaryFolder(), 'data.db')}`
    let log = ''
    const logger = pino({ level: 'warn' }, { write: (line) => void (log += line) })
    const { keys } = await jwksOf(pair.publicKey)
    const start = async (...names: string[]) => {
      const jwks = { keys: names.map((kid) => ({ ...keys[0], kid })) }
      const applications = [{ name: 'by key', clientId: keyClientId, jwks }]
      return administeredService({ storage, logger, applications })
    }
    const path = `/applications/${keyClientId}`
    const first = await start('stolen', 'spare')
    const [{ id }] = (await first.send('GET', path)).body.keys
    await first.send('DELETE', `${path}/keys/${id}`)
    await first.close()

    const second = await start('other')
    expect(log).not.toContain('An administrator removed')
    const unrelated = await exportJWK((await generateKeyPair('ES256', { extractable: true })).publicKey)
    const nine = Array.from({ length: 9 }, (_, at) => ({ ...unrelated, kid: `more ${at}` }))
    expect((await second.send('POST', `${path}/keys`, { key: JSON.stringify({ keys: nine }) })).status).toBe(
      201,
    )
    await second.close()

    const third = await start('stolen')
    expect(log).toContain('An administrator removed a configured key')
    const stolen = (await third.send('GET', path)).body.keys.filter(
      ({ name }: { name: string }) => name === 'stolen',
    )
    expect(stolen).toMatchObject([{ id, expiresAtMs: expect.any(Number) }])
    const assertion = await assertionFor(third.authUrl, { key: pair.privateKey })
    expect((await present(third.authUrl, assertion)).status).toBe(401)
  })

  it('accept an assertion once, even across a restart', async () => {
    const storage = `sqlite:${join(temporaryFolder(), 'data.db')}`
    const publicUrl = 'https://auth.example.com'
    const applications = [{ name: 'by key', clientId: keyClientId, jwks: await jwksOf(pair.publicKey) }]
    const assertion = await assertionFor(publicUrl)
    const first = await administeredService({ storage, publicUrl, applications })
    expect((await present(first.authUrl, assertion)).status).toBe(200)
    await first.close()
    const second = await administeredService({ storage, publicUrl, applications })
    expect((await present(second.authUrl, assertion)).status).toBe(401)
  })
})
