import { expect, it } from 'vitest'
import {
  cells,
  createApplication,
  createProject,
  startPortal,
  useCheapPasswords,
  type PortalBrowser,
} from '../../portal/portal-browser.ts'

useCheapPasswords()

const settings = { jwks_url: '', audiences: '', replay: 'until-expiry' }

async function withOrders() {
  const { admin, service } = await startPortal()
  const project = await createProject(admin)
  const orders = await createApplication(admin, project, { name: 'Orders' })
  await admin.get('/portal/new-trusted-issuer?platform=github')
  return { admin, project, orders, issuers: () => service.context.storage.trustedIssuers.list() }
}

const trustGithub = (admin: PortalBrowser, form: Readonly<Record<string, string>> = {}) =>
  admin.post('/portal/new-trusted-issuer', {
    platform: 'github',
    application: 'orders',
    repository: 'example/orders',
    jobs: 'branch',
    of: 'main',
    ...settings,
    ...form,
  })

it('trusts GitHub for the jobs of a branch, of an application that is named', async () => {
  const { admin, orders, issuers } = await withOrders()
  const { status, location } = await trustGithub(admin)
  expect(status).toBe(303)
  const [issuer] = await issuers()
  expect(issuer).toMatchObject({
    issuer: 'https://token.actions.githubusercontent.com',
    audiences: [],
    detectReplay: false,
    rules: [{ clientId: orders.clientId, claims: { repository: 'example/orders', ref: 'refs/heads/main' } }],
  })
  const { text } = await admin.get(location ?? '')
  expect(text).toContain('<h1>GitHub Actions</h1>')
  expect(cells(text, 'name')).toEqual(['example/ordersbranch main'])
  const list = await admin.get('/portal/trusted-issuers')
  expect(cells(list.text, 'name')).toEqual(['GitHub Actionshttps://token.actions.githubusercontent.com'])
  expect(cells(list.text, 'text')).toEqual(['Orders'])
})

it('adds, changes and removes rules of an issuer, but not the last one', async () => {
  const { admin, project, orders, issuers } = await withOrders()
  const other = await createApplication(admin, project, { name: 'Billing' })
  const issuer = (await trustGithub(admin)).location ?? ''
  const again = await admin.get(`/portal/new-trusted-issuer?platform=github&application=${other.clientId}`)
  expect(again.location).toBe(`${issuer}/new-rule?application=${other.clientId}`)
  expect((await admin.get(again.location ?? '')).text).toContain(`value="${other.clientId}"`)
  const rule = { application: other.clientId, repository: 'example/*', jobs: 'any', of: '' }
  expect((await admin.post(`${issuer}/new-rule`, rule)).location).toBe(issuer)
  const [path = ''] =
    /\/portal\/trusted-issuers\/[\w-]+\/rules\/[\w-]+/.exec((await admin.get(issuer)).text) ?? []
  expect((await admin.get(path)).text).toContain('value="example/orders"')
  const changed = { ...rule, application: orders.clientId, jobs: 'environment', of: 'production' }
  expect((await admin.post(path, changed)).location).toBe(issuer)
  expect((await issuers())[0]?.rules).toEqual([
    { clientId: orders.clientId, claims: { repository_owner: 'example', environment: 'production' } },
    { clientId: other.clientId, claims: { repository_owner: 'example' } },
  ])
  // The rule is another one now.
  expect((await admin.post(path, changed)).status).toBe(404)
  const page = await admin.get(issuer)
  const [first = '', second = ''] = [...page.text.matchAll(/action="([^"]+\/removal)"/g)].map(
    ([, action]) => action ?? '',
  )
  expect((await admin.post(first)).location).toBe(issuer)
  expect(cells((await admin.get(issuer)).text, 'menu')).toEqual([])
  expect((await admin.post(second)).status).toBe(422)
  expect((await issuers())[0]?.rules).toHaveLength(1)
})

it('trusts a cluster and any other platform by their claims', async () => {
  const { admin, orders, issuers } = await withOrders()
  const cluster = {
    platform: 'kubernetes',
    application: orders.clientId,
    issuer: 'https://cluster.example.com',
    namespace: 'orders',
    service_account: '',
    ...settings,
  }
  expect((await admin.post('/portal/new-trusted-issuer', cluster)).status).toBe(303)
  const other = {
    platform: 'other',
    application: orders.clientId,
    issuer: 'https://accounts.example.com',
    claim_1: 'sub',
    kind_1: 'text',
    value_1: '1234',
    claim_3: 'google > compute > zone',
    kind_3: 'text',
    value_3: 'europe',
    ...settings,
    jwks_url: 'https://accounts.example.com/keys',
    audiences: 'one two',
    replay: 'once',
  }
  const { location } = await admin.post('/portal/new-trusted-issuer', other)
  const [accounts, kubernetes] = await issuers()
  expect(kubernetes?.rules[0]?.claims).toEqual({ sub: 'system:serviceaccount:orders:*' })
  expect(accounts).toMatchObject({
    jwksUrl: 'https://accounts.example.com/keys',
    audiences: ['one', 'two'],
    detectReplay: true,
    rules: [{ claims: { sub: '1234', google: { compute: { zone: 'europe' } } } }],
  })
  const changed = { issuer: 'https://accounts.example.com', ...settings }
  expect((await admin.post(location ?? '', changed)).status).toBe(303)
  const [after] = await issuers()
  expect(after).toMatchObject({ audiences: [], detectReplay: false, rules: accounts?.rules })
  expect(after).not.toHaveProperty('jwksUrl')
})

it('says at each field what is wrong, and keeps what was entered', async () => {
  const { admin, project, issuers } = await withOrders()
  await createApplication(admin, project, { name: 'Ordérs' })
  const wrong = [
    [{ application: 'Nobody' }, 'There is no application with this name or client ID.'],
    [{ application: 'orders' }, 'Several applications have this name. Enter the client ID.'],
    [{ application: '', repository: 'x' }, 'Enter owner/repository'],
    [{ platform: 'kubernetes', issuer: '', namespace: 'orders', service_account: '' }, 'required'],
    [{ jwks_url: 'http://keys.example.com' }, 'must be an https URL'],
  ] as const
  for (const [form, message] of wrong) {
    const { status, text } = await trustGithub(admin, { ...form })
    expect([status, text.includes(message)], message).toEqual([422, true])
    if (!('platform' in form) && !('repository' in form)) expect(text).toContain('value="example/orders"')
  }
  expect(await issuers()).toEqual([])
})

it('shows an issuer of the configuration, and changes nothing about it', async () => {
  const { admin, service } = await startPortal({
    applications: [{ name: 'Orders', clientId: 'orders', clientSecret: 'demo-secret-0123456789' }],
    trustedIssuers: [
      { issuer: 'https://ci.example.com', rules: [{ clientId: 'orders', claims: { sub: 'job' } }] },
    ],
  })
  const [issuer] = await service.context.storage.trustedIssuers.list()
  const path = `/portal/trusted-issuers/${issuer?.id}`
  const { text } = await admin.get(path)
  expect(text).toContain('in the configuration of the service')
  expect(text).not.toContain('Add a rule')
  expect(text).not.toContain('/removal"')
  const rule = { application: 'orders', claim_1: 'sub', kind_1: 'text', value_1: 'all' }
  expect((await admin.post(`${path}/new-rule`, rule)).status).toBe(422)
  expect((await admin.post(path, { issuer: 'https://x.example.com', ...settings })).status).toBe(422)
  expect(await service.context.storage.trustedIssuers.list()).toEqual([issuer])
})
