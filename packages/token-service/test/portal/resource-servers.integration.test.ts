import { generateKeyPairSync, KeyObject } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { assertionFor, assertionType, keyClientId, pair } from '../oauth/client-assertion.ts'
import { basic, postForm } from '../test-service.ts'
import {
  cells,
  createApplication,
  createProject,
  password,
  shown,
  startPortal,
  tokenFor,
  useCheapPasswords,
  type PortalBrowser,
} from './portal-browser.ts'

useCheapPasswords()

const list = '/portal/resource-servers'
const submission = () => ({ submission_id: crypto.randomUUID() })

/** The rows of the credentials, as their texts: name and kind, created, last used, expires, menu. */
async function credentials(browser: PortalBrowser, path: string): Promise<string[][]> {
  const { text } = await browser.get(path)
  const [, table = ''] = /<tbody>([^]*?)<\/tbody>/.exec(text) ?? []
  return [...table.matchAll(/<tr>([^]*?)<\/tr>/g)].map(([, row = '']) =>
    [...row.matchAll(/<td[^>]*>([^]*?)<\/td>/g)].map(([, cell = '']) =>
      cell
        .replace(/<dialog[^]*/, '')
        .replace(/<[^>]+>/g, '')
        .replaceAll(/\s+/g, ' ')
        .trim(),
    ),
  )
}

async function withResourceServer() {
  const time = { now: Date.UTC(2026, 0, 31, 12) }
  const portal = await startPortal({ clock: { now: () => time.now } })
  const { admin, service } = portal
  const created = await admin.post(list, { name: 'Speech API', audiences: '', ...submission() })
  const [clientId, clientSecret] = [shown(created.text, 'client-id'), shown(created.text, 'client-secret')]
  const status = async (secret: string) =>
    (
      await postForm(
        `${service.authUrl}/oauth/introspect`,
        { token: 'x' },
        basic({ clientId, clientSecret: secret }),
      )
    ).status
  return { ...portal, time, path: `${list}/${clientId}`, clientId, clientSecret, status }
}

describe('a resource server', () => {
  it('is named and linked in the audit log until it is removed', async () => {
    const { admin, path, clientId } = await withResourceServer()
    const before = (await admin.get('/portal/audit')).text
    expect(before).toContain(`<a href="${path}">Speech API</a>`)
    expect(before).toContain(`<code>${clientId}</code>`)
    await admin.post(`${path}/removal`)
    const { text } = await admin.get('/portal/audit')
    expect(text).not.toContain('Speech API</a>')
    expect(text).toContain(`<code>${clientId}</code>`)
  })

  it('introspects tokens with the secret that is shown once', async () => {
    const { admin, service, path, clientId, clientSecret } = await withResourceServer()
    const application = await createApplication(admin, await createProject(admin))
    const { access_token: token } = (await tokenFor(service.authUrl, application)).body
    const { body } = await postForm(
      `${service.authUrl}/oauth/introspect`,
      { token },
      basic({ clientId, clientSecret }),
    )
    expect(body).toMatchObject({ active: true })
    for (const page of [path, list]) expect((await admin.get(page)).text).not.toContain(clientSecret)
  })

  it('is registered once by a form that is sent twice', async () => {
    const { admin } = await withResourceServer()
    const form = { name: 'Twice', audiences: '', ...submission() }
    expect((await admin.post(list, form)).status).toBe(200)
    expect((await admin.post(list, form)).location).toBe(list)
    expect(cells((await admin.get(list)).text, 'name')).toEqual(['Speech API', 'Twice'])
    expect((await admin.post(list, { name: '', audiences: '', ...submission() })).status).toBe(422)
    expect((await admin.post(list, { name: 'Without ID' })).status).toBe(400)
  })

  it('has overlapping secrets, which end when they expire or are revoked', async () => {
    const { admin, path, clientSecret: first, status, time } = await withResourceServer()
    const rotate = async (overlap: string) => {
      const form = { overlap, ...submission() }
      const secret = shown((await admin.post(`${path}/secrets`, form)).text, 'client-secret')
      expect((await admin.post(`${path}/secrets`, form)).location).toBe(path)
      return secret
    }
    const second = await rotate('day')
    expect([await status(first), await status(second)]).toEqual([200, 200])
    const wait = async (ms: number) => {
      time.now += ms
      // The session has expired.
      await admin.get('/portal/log-in')
      await admin.post('/portal/log-in', { name: 'ada', password })
      await admin.get(path)
    }
    await wait(86_400_000)
    expect([await status(first), await status(second)]).toEqual([401, 200])
    const third = await rotate('never')
    await wait(365 * 86_400_000)
    expect([await status(second), await status(third)]).toEqual([200, 200])
    const revocations = (await admin.get(path)).text.match(/[^"]+\/revocation/g) ?? []
    // The first secret has expired.
    expect((await admin.post(revocations[1] ?? '')).location).toBe(path)
    expect([await status(second), await status(third)]).toEqual([401, 200])
    expect((await admin.post(`${path}/secrets`, { overlap: 'forever', ...submission() })).status).toBe(400)
    for (let secret = 1; secret < 10; secret += 1) await rotate('never')
    const tooMany = await admin.post(`${path}/secrets`, { overlap: 'never', ...submission() })
    expect([tooMany.status, tooMany.text]).toEqual([409, expect.stringContaining('Too many secrets')])
  })

  it('shows when each credential was last used', async () => {
    const { admin, path, clientSecret: first, status, time } = await withResourceServer()
    const form = { overlap: 'never', ...submission() }
    const second = shown((await admin.post(`${path}/secrets`, form)).text, 'client-secret')
    const lastUses = async () =>
      (await credentials(admin, path)).map(([kind, , lastUsed]) => [kind?.slice(8).trim(), lastUsed])
    expect((await lastUses()).map(([, lastUsed]) => lastUsed)).toEqual(['never', 'never'])
    await status('wrong')
    await status(second)
    time.now += 2 * 3_600_000
    await status(first)
    time.now += 3_600_000
    expect(await lastUses()).toEqual([
      ['Client secret', '1 hour ago'],
      ['Client secret', '3 hours ago'],
    ])
    expect(cells((await admin.get(list)).text, 'time')).toEqual(['1 hour ago'])
  })

  it('is renamed, bound to audiences and removed', async () => {
    const { admin, path, clientSecret, status } = await withResourceServer()
    // The browser does not send it.
    expect((await admin.post(path, { name: ' ', audiences: '' })).status).toBe(400)
    expect((await admin.post(path, { name: 'Voice API', audiences: '' })).location).toBe(path)
    const { text } = await admin.get(path)
    expect(text).toContain('The resource server was saved.')
    expect(text).toContain('It may introspect every token.')
    await admin.post(path, { name: 'Voice API', audiences: 'https://voice.example.com voice' })
    expect((await admin.get(path)).text).toContain('It sees tokens for https://voice.example.com voice only.')
    await admin.post(path, { name: 'Voice API', audiences: '' })
    expect((await admin.get(list)).text).toContain('Voice API')
    expect(await status(clientSecret)).toBe(200)
    expect((await admin.post(`${path}/removal`)).location).toBe(list)
    expect(await status(clientSecret)).toBe(401)
    expect((await admin.get(path)).status).toBe(404)
    expect((await admin.post(`${path}/secrets`, { overlap: 'day', ...submission() })).status).toBe(404)
  })

  it('is changed by administrators only', async () => {
    const { developer, path } = await withResourceServer()
    const grace = await developer('grace')
    for (const page of [list, path, `${path}/keys`]) expect((await grace.get(page)).status).toBe(403)
    for (const page of [
      path,
      `${path}/removal`,
      `${path}/secrets`,
      `${path}/keys`,
      `${path}/keys/x`,
      `${path}/keys/x/removal`,
    ])
      expect([page, (await grace.post(page, submission())).status]).toEqual([page, 403])
  })
})

describe('a public key of a resource server', () => {
  const pem = (key = generateKeyPairSync('ed25519').publicKey) =>
    String(key.export({ type: 'spki', format: 'pem' }))

  it('is registered and removed', async () => {
    const { admin, path } = await withResourceServer()
    const rejected = await admin.post(`${path}/keys`, { key: 'nonsense' })
    expect([rejected.status, rejected.text]).toEqual([422, expect.stringContaining('key-error')])
    expect((await admin.post(`${path}/keys`, { key: pem(), name: 'first' })).location).toBe(path)
    const [renaming = ''] = /[^"]+\/keys\/[\w-]+(?=")/.exec((await admin.get(path)).text) ?? []
    expect((await admin.post(renaming, { name: 'production' })).location).toBe(path)
    const [, key] = await credentials(admin, path)
    expect(key).toMatchObject([
      expect.stringMatching(/^productionPublic key [\w-]{43}$/),
      'just now',
      'never',
      'never',
      expect.any(String),
    ])
    const [removal = ''] = /[^"]+\/keys\/[^"]+\/removal/.exec((await admin.get(path)).text) ?? []
    expect((await admin.post(removal)).location).toBe(path)
    expect((await credentials(admin, path)).map(([kind]) => kind)).toEqual([
      expect.stringMatching(/Client secret$/),
    ])
  })

  it('from the configuration is shown as expired once it is removed, with its last use', async () => {
    const publicKey = pem(KeyObject.from(pair.publicKey))
    const { admin, service } = await startPortal({ resourceServers: [{ clientId: keyClientId, publicKey }] })
    const form = { token: 'x', client_assertion_type: assertionType }
    const introspect = async () =>
      postForm(`${service.authUrl}/oauth/introspect`, {
        ...form,
        client_assertion: await assertionFor(service.authUrl),
      })
    expect((await introspect()).status).toBe(200)
    const path = `${list}/${keyClientId}`
    const [removal = ''] = /[^"]+\/keys\/[^"]+\/removal/.exec((await admin.get(path)).text) ?? []
    await admin.post(removal)
    const [key] = await credentials(admin, path)
    expect(key?.slice(1)).toEqual(['just now', 'just now', 'Expired', ''])
    expect((await introspect()).status).toBe(401)
  })
})

it('lists and adds its scopes, with its audience, and offers audiences that exist elsewhere', async () => {
  const { admin, service } = await startPortal({ scopes: ['general'] })
  await admin.get('/portal/resource-servers')
  const created = await admin.post('/portal/resource-servers', {
    name: 'Orders',
    audiences: 'https://orders.example.org',
    submission_id: crypto.randomUUID(),
  })
  const path = `/portal/resource-servers/${shown(created.text, 'client-id')}`
  expect((await admin.get(path)).text).toContain('No scope belongs to this API yet.')
  const [, fields = ''] = /<h3>Add a scope<\/h3>(.*?)<\/form>/s.exec((await admin.get(path)).text) ?? []
  const hidden = [...fields.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)].map(
    ([, name = '', value = '']) => [name, value] as const,
  )
  for (const name of ['orders:read', 'orders:write']) {
    const form = { ...Object.fromEntries(hidden), csrf_token: admin.csrfToken, name, description: '' }
    expect((await admin.post('/portal/scopes', form)).location).toBe(path)
  }
  const { text } = await admin.get(path)
  expect(text).toContain('>orders:read</a>')
  expect(text).not.toContain('>general</a>')
  expect(await service.context.storage.scopes.list()).toContainEqual({
    name: 'orders:write',
    audience: 'https://orders.example.org',
  })
  expect((await admin.get('/portal/scopes')).text).toMatch(
    /<datalist[^>]*>\s*<option value="https:\/\/orders\.example\.org">/,
  )
})
