import { expect, it } from 'vitest'
import { introspect } from '../test-service.ts'
import {
  createApplication,
  createProject,
  startPortal,
  useCheapPasswords,
  withApplication,
  type PortalBrowser,
} from './portal-browser.ts'

useCheapPasswords()

async function tryAs(browser: PortalBrowser, clientId: string, form: Readonly<Record<string, string>> = {}) {
  await browser.get('/portal/reference')
  const { status, text } = await browser.post('/portal/reference/token', { client_id: clientId, ...form })
  return { status, body: JSON.parse(text) as Record<string, string> }
}

it('issues a token for five minutes to the owner of an application, without its secret', async () => {
  const { admin, application, authUrl, time } = await withApplication()
  const { status, body } = await tryAs(admin, application.clientId)
  expect(status).toBe(200)
  expect(body).toMatchObject({ client_id: application.clientId, expires_in: '300', token_type: 'Bearer' })
  const token = body['access_token'] ?? ''
  expect((await introspect(authUrl, token)).body).toMatchObject({
    active: true,
    api_products: ['speech-to-text'],
  })
  time.now += 300_001
  expect((await introspect(authUrl, token)).body).toEqual({ active: false })
})

it('writes who tried it to the audit log, and does not count the application as used', async () => {
  const { admin, application, service } = await withApplication()
  await tryAs(admin, application.clientId)
  expect((await admin.get('/portal/audit')).text).toMatch(/ada<[^]*?tried a token request of/)
  const { activity } = service.context
  expect((await activity.lastUses([application.path.split('/').at(-1) ?? ''])).size).toBe(0)
})

it('describes and revokes the tokens of own applications alone', async () => {
  const { admin, developer, application, authUrl } = await withApplication()
  const grace = await developer('grace')
  const own = await createApplication(grace, await createProject(grace, 'Graces'))
  await admin.get(own.path)
  const token = (await tryAs(admin, application.clientId)).body['access_token'] ?? ''
  const describe = async (browser: PortalBrowser) =>
    JSON.parse((await browser.post('/portal/reference/introspection', { token })).text) as object
  expect(await describe(admin)).toMatchObject({ active: true, client_id: application.clientId })
  await grace.get('/portal/reference')
  expect(await describe(grace)).toEqual({ active: false })
  await grace.post('/portal/reference/revocation', { token })
  expect((await introspect(authUrl, token)).body).toMatchObject({ active: true })
  await admin.post('/portal/reference/revocation', { token })
  expect((await introspect(authUrl, token)).body).toEqual({ active: false })
})

it('responds as the token endpoint does to what it rejects', async () => {
  const { admin, developer, application } = await withApplication()
  const grace = await developer('grace')
  const { clientId } = await createApplication(grace, await createProject(grace, 'Graces'))
  expect(await tryAs(grace, application.clientId)).toMatchObject({
    status: 422,
    body: { error: 'No application has exactly this name.' },
  })
  expect(await tryAs(grace, clientId)).toMatchObject({
    status: 401,
    body: { ErrorCode: 'unauthorized_client' },
  })
  expect(await tryAs(admin, application.clientId, { resource: 'https://nowhere.example.com' })).toMatchObject(
    {
      status: 200,
    },
  )
  const { status } = await admin.send('/portal/reference/token', {
    method: 'POST',
    body: new URLSearchParams({ client_id: application.clientId }),
  })
  expect(status).toBe(403)
})

it('reads a client ID behind a name only if the name is that of the client', async () => {
  const { admin, application, service } = await withApplication()
  const { clientId } = application
  const { name } = (await service.context.storage.applications.findClient(clientId))!.application
  expect((await tryAs(admin, `${name} (${clientId})`)).body).toMatchObject({ client_id: clientId })
  expect(await tryAs(admin, `Invoices (${clientId})`)).toMatchObject({
    status: 422,
    body: { error: 'No application has exactly this name.' },
  })
})

it('responds as the token endpoint does to a form whose optional fields are empty', async () => {
  const api = 'https://stock.example.com'
  const { admin, service } = await startPortal({
    scopes: [{ name: 'stock:read', audience: api }, { name: 'reports' }],
    applications: [
      { scopes: ['stock:read'] },
      { scopes: ['stock:read', 'reports'] },
      { audiences: [api], tokenFormat: 'jwt' as const },
      {},
    ].map((more, index) => ({
      name: `Kind ${index}`,
      clientId: `kind-${index}`,
      clientSecret: 'k'.repeat(20),
      ...more,
    })),
  })
  for (let index = 0; index < 4; index += 1) {
    const endpoint = `${service.authUrl}/oauth/client_credential/accesstoken?grant_type=client_credentials`
    const form = { client_id: `kind-${index}`, client_secret: 'k'.repeat(20), scope: '', resource: '' }
    const response = await fetch(endpoint, { method: 'POST', body: new URLSearchParams(form) })
    const expected = (await response.json()) as { scope?: string }
    // By its name, as one picks it.
    const { status, body } = await tryAs(admin, `kind ${index}`, { scope: '', resource: '' })
    expect([status, body['scope']], `kind ${index}`).toEqual([response.status, expected.scope])
  }
})

it('ends the token when the developer is removed', async () => {
  const { admin, developer, authUrl, service } = await withApplication()
  const grace = await developer('grace')
  const own = await createApplication(grace, await createProject(grace, 'Graces'))
  const page = await admin.get(own.path)
  const revision = /name="revision" value="(\d+)"/.exec(page.text)?.[1] ?? ''
  await admin.post(`${own.path}/approval`, { decision: 'approve', revision })
  const token = (await tryAs(grace, own.clientId)).body['access_token'] ?? ''
  expect((await introspect(authUrl, token)).body).toMatchObject({ active: true })
  const found = (await service.context.storage.developers.list()).find(({ name }) => name === 'grace')
  await service.context.storage.developers.remove(found?.id ?? '')
  expect((await introspect(authUrl, token)).body).toEqual({ active: false })
})
