import { describe, expect, it } from 'vitest'
import { createProject, startPortal, useCheapPasswords, withApplication } from '../portal/portal-browser.ts'
import { administeredService, application, introspect, requestToken } from '../test-service.ts'

useCheapPasswords()

const path = `/applications/${application.clientId}`

describe('a change of a part of an application', () => {
  it('leaves what somebody else changes at the same time', async () => {
    const { send } = await administeredService()
    for (let round = 0; round < 5; round += 1) {
      await send('PATCH', path, { dpop: 'none', claims: {} })
      const responses = await Promise.all([
        send('PATCH', path, { claims: { region: `r${round}` } }),
        send('PATCH', path, { dpop: 'required' }),
        send('PATCH', path, { audiences: [`urn:${round}`] }),
      ])
      expect(responses.map(({ status }) => status)).toEqual([200, 200, 200])
      expect((await send('GET', path)).body).toMatchObject({
        claims: { region: `r${round}` },
        dpop: 'required',
        audiences: [`urn:${round}`],
      })
    }
    const { body } = await send('GET', `/audit?clientId=${application.clientId}&event=application_changed`)
    const changes = String(body)
      .trim()
      .split('\n')
      .map((line) => Object.keys((JSON.parse(line) as { changes?: object }).changes ?? {}).length)
    // The last one of each round resets two.
    expect(changes.filter((each) => each > 1).length).toBeLessThanOrEqual(5)
  })

  it('is rejected if it is based on another revision', async () => {
    const { send, authUrl } = await administeredService()
    const { headers, body } = await send('GET', path)
    const seen = headers.get('etag')!
    expect(seen).toBe(`"${body.revision}"`)
    const { body: token } = await requestToken(authUrl)
    await introspect(authUrl, token.access_token)
    await send('POST', `${path}/secrets`, {})
    // Use changes no revision.
    expect((await send('GET', path)).headers.get('etag')).toBe(seen)
    const changed = await send('PATCH', path, { claims: { a: 1 } }, seen)
    expect([changed.status, changed.headers.get('etag')]).toEqual([200, `"${changed.body.revision}"`])
    for (const other of [seen, `W/${changed.headers.get('etag')}`, 'x']) {
      const { status, body: error } = await send('PATCH', path, { claims: { a: 2 } }, other)
      expect([status, error.error]).toEqual([412, expect.stringContaining('changed in the meantime')])
    }
    expect((await send('PATCH', path, { claims: { a: 3 } }, '*')).status).toBe(200)
    expect((await send('GET', path)).body.claims).toEqual({ a: 3 })
    expect((await send('PATCH', '/applications/unknown', { claims: {} }, seen)).status).toBe(404)
  })
})

describe('a replacement', () => {
  const issuer = {
    issuer: 'https://id.example.com',
    rules: [{ clientId: application.clientId, claims: { sub: 'a' } }],
  }

  it.each([
    ['products', '/products/reports', { description: 'Reports' }, { description: 'All reports' }],
    ['scopes', '/scopes/reports', { audience: 'urn:a' }, { audience: 'urn:b', description: 'B' }],
  ])('of what exists in %s states its revision', async (kind, at, first, second) => {
    const { send } = await administeredService()
    const revision = async () => {
      const entries = (await send('GET', `/${kind}`)).body as { name: string; revision: string }[]
      return entries.find(({ name }) => name === 'reports')?.revision
    }
    expect((await send('PUT', at, first, '*')).status).toBe(412)
    expect((await send('PUT', at, first)).status).toBe(204)
    const seen = await revision()
    const rejected = await send('PUT', at, second)
    expect([rejected.status, rejected.body.error]).toEqual([428, expect.stringContaining('If-Match')])
    expect(await revision()).toBe(seen)
    expect((await send('PUT', at, second, `"${seen}"`)).status).toBe(204)
    expect((await send('PUT', at, first, `"${seen}"`)).status).toBe(412)
    expect((await send('PUT', at, first, '*')).status).toBe(204)
    expect(await revision()).toBe(seen)
  })

  it('of a trusted issuer, or of the audiences of a resource server, states its revision', async () => {
    const { send } = await administeredService()
    const { body: added, headers } = await send('POST', '/trusted-issuers', issuer)
    const at = `/trusted-issuers/${added.id}`
    expect((await send('PUT', at, issuer)).status).toBe(428)
    const changed = await send('PUT', at, { ...issuer, detectReplay: true }, headers.get('etag')!)
    expect([changed.status, changed.body.revision === added.revision]).toEqual([200, false])
    expect((await send('PUT', at, issuer, headers.get('etag')!)).status).toBe(412)
    expect((await send('GET', '/trusted-issuers')).body).toMatchObject([{ revision: changed.body.revision }])

    const { body: server } = await send('POST', '/resource-servers', { name: 'orders' })
    const bound = `/resource-servers/${server.clientId}`
    expect((await send('PUT', `${bound}/audiences`, { audiences: ['urn:a'] })).status).toBe(204)
    expect((await send('PUT', `${bound}/audiences`, { audiences: ['urn:b'] })).status).toBe(428)
    const seen = (await send('GET', bound)).headers.get('etag')!
    expect((await send('PATCH', bound, { name: 'bills' }, seen)).status).toBe(204)
    expect((await send('PUT', `${bound}/audiences`, { audiences: ['urn:b'] }, seen)).status).toBe(412)
    expect((await send('PATCH', bound, { name: 'x' }, seen)).status).toBe(412)
  })
})

describe('a form of the portal', () => {
  const revisionIn = (text: string) => /name="revision"\s+value="([^"]+)"/.exec(text)?.[1] ?? ''

  it('of an application or a project does not undo what somebody else has changed since it was opened', async () => {
    const { admin, application: own, project } = await withApplication()
    for (const [page, form] of [
      [
        `${own.path}/settings`,
        {
          level: 'gold',
          response_form: 'products',
          lifetime: '60',
          lifetime_unit: 'seconds',
          token_format: 'opaque',
          dpop: 'allowed',
          audiences: '',
        },
      ],
      [`${project}/settings`, { organization_name: 'Example', developer_email: 'ada@example.com' }],
    ] as const) {
      const revision = revisionIn((await admin.get(page)).text)
      expect((await admin.post(page, { ...form, name: 'First', revision })).status).toBe(303)
      const rejected = await admin.post(page, { ...form, name: 'Second', revision })
      expect([rejected.status, rejected.text]).toEqual([409, expect.stringMatching(/changed/)])
      // A form with a mistake keeps the revision that was seen.
      const mistaken = await admin.post(page, { ...form, name: ' ', revision })
      expect([mistaken.status, revisionIn(mistaken.text)]).toEqual([422, revision])
      expect((await admin.get(page)).text).toContain('value="First"')
    }
  })

  it('of a scope or a resource server does not either', async () => {
    const { admin } = await startPortal({ scopes: [{ name: 'a', description: 'Old' }] })
    await createProject(admin)
    const seen = revisionIn((await admin.get('/portal/scopes?change=a')).text)
    const form = { name: 'a', audience: '', revision: seen }
    expect((await admin.post('/portal/scopes', { ...form, description: 'First' })).status).toBe(303)
    expect((await admin.post('/portal/scopes', { ...form, description: 'Second' })).status).toBe(409)
    const created = { name: 'API', audiences: '', submission_id: crypto.randomUUID() }
    const { text } = await admin.post('/portal/resource-servers', created)
    const page = /\/portal\/resource-servers\/[0-9a-f]{32}/.exec(text)?.[0] ?? ''
    const revision = revisionIn((await admin.get(page)).text)
    expect((await admin.post(page, { name: 'First', audiences: '', revision })).status).toBe(303)
    expect((await admin.post(page, { name: 'Second', audiences: '', revision })).status).toBe(409)
  })
})
