import { expect, it } from 'vitest'
import {
  cells,
  createApplication,
  createProject,
  shown,
  startPortal,
  useCheapPasswords,
  type PortalBrowser,
} from '../../portal/portal-browser.ts'

useCheapPasswords()

const settings = { jwks_url: '', jwks: '', audiences: '', replay: 'until-expiry' }

const github = 'https://token.actions.githubusercontent.com'

async function withOrders() {
  const { admin, service } = await startPortal()
  const project = await createProject(admin)
  const orders = await createApplication(admin, project, { name: 'Orders' })
  await admin.get('/portal/new-trusted-issuer?preset=github')
  return { admin, service, project, orders, issuers: () => service.context.storage.trustedIssuers.list() }
}

/** The lines of a form, as name and value, or name, kind and value. */
const lines = (...claims: readonly (readonly string[])[]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    claims.flatMap(([name = '', ...rest], index) => [
      [`claim_${index + 1}`, name],
      [`kind_${index + 1}`, rest.length === 2 ? rest[0]! : 'text'],
      [`value_${index + 1}`, rest.at(-1) ?? ''],
    ]),
  )

const mainOfOrders = lines(['repository', 'example/orders'], ['ref', 'refs/heads/main'])

const trustGithub = (admin: PortalBrowser, form: Readonly<Record<string, string>> = {}) =>
  admin.post('/portal/new-trusted-issuer', {
    issuer: github,
    application: 'orders',
    ...mainOfOrders,
    ...settings,
    ...form,
  })

it('trusts GitHub for the jobs of a branch, and shows what such a job sends', async () => {
  const { admin, service, orders, issuers } = await withOrders()
  const { text: form } = await admin.get('/portal/new-trusted-issuer?preset=github')
  expect(form).toContain(`value="${github}"`)
  expect(form).toContain('value="repository"')
  const { status, location } = await trustGithub(admin)
  expect(status).toBe(303)
  const [issuer] = await issuers()
  expect(issuer).toMatchObject({
    issuer: github,
    audiences: [],
    detectReplay: false,
    rules: [{ clientId: orders.clientId, claims: { repository: 'example/orders', ref: 'refs/heads/main' } }],
  })
  const { text } = await admin.get(location ?? '')
  expect(text).toContain('<h1>GitHub Actions</h1>')
  expect(cells(text, 'name')).toEqual(['repository = example/ordersref = refs/heads/main'])
  expect(shown(text, 'audience')).toBe(service.authUrl)
  const job = shown(text, 'job')
  expect(job).toContain('id-token: write')
  expect(job).toContain(`&audience=${encodeURIComponent(service.authUrl)}`)
  expect(job).toContain(
    `curl -sS '${service.authUrl}/oauth/client_credential/accesstoken?grant_type=urn:ietf`,
  )
  const list = await admin.get('/portal/trusted-issuers')
  expect(cells(list.text, 'name')).toEqual([`GitHub Actions${github}`])
  expect(cells(list.text, 'text')).toEqual(['Orders'])
})

it.each([
  ['https://github.com/example/billing', 'example/billing'],
  ['https://github.com/example/billing.git', 'example/billing'],
  ['https://github.com/example/billing/tree/main?tab=readme', 'example/billing'],
  ['git@github.com:example/billing.git', 'example/billing'],
])('understands the repository %s', async (pasted, repository) => {
  const { admin, issuers } = await withOrders()
  expect((await trustGithub(admin, lines(['repository', pasted], ['', '']))).status).toBe(303)
  expect((await issuers())[0]?.rules[0]?.claims).toEqual({ repository })
})

it('adds, changes and removes rules of an issuer, but not the last one', async () => {
  const { admin, project, orders, issuers } = await withOrders()
  const other = await createApplication(admin, project, { name: 'Billing' })
  const issuer = (await trustGithub(admin)).location ?? ''
  const again = await admin.get(`/portal/new-trusted-issuer?preset=github&application=${other.clientId}`)
  expect(again.location).toBe(`${issuer}/new-rule?application=${other.clientId}`)
  expect((await admin.get(again.location ?? '')).text).toContain(`value="${other.clientId}"`)
  const rule = { application: other.clientId, ...lines(['repository_owner_id', '65']) }
  expect((await admin.post(`${issuer}/new-rule`, rule)).location).toBe(issuer)
  // A JWT may now stand for two applications.
  expect(shown((await admin.get(issuer)).text, 'job')).toContain(`'client_id=${orders.clientId}'`)
  const [path = ''] =
    /\/portal\/trusted-issuers\/[\w-]+\/rules\/[\w-]+/.exec((await admin.get(issuer)).text) ?? []
  expect((await admin.get(path)).text).toContain('value="example/orders"')
  const environment = lines(['repository_owner_id', '65'], ['environment', 'production'])
  const changed = { application: orders.clientId, ...environment }
  expect((await admin.post(path, changed)).location).toBe(issuer)
  expect((await issuers())[0]?.rules).toEqual([
    { clientId: orders.clientId, claims: { repository_owner_id: '65', environment: 'production' } },
    { clientId: other.clientId, claims: { repository_owner_id: '65' } },
  ])
  // The rule is another one now.
  expect((await admin.post(path, changed)).status).toBe(404)
  const withoutOwner = { application: orders.clientId, ...lines(['environment', 'production']) }
  expect((await admin.post(`${issuer}/new-rule`, withoutOwner)).status).toBe(422)
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
    application: orders.clientId,
    issuer: 'https://cluster.example.com',
    ...lines(['sub', 'system:serviceaccount:orders:api']),
    ...settings,
  }
  expect((await admin.post('/portal/new-trusted-issuer', cluster)).status).toBe(303)
  const other = {
    application: orders.clientId,
    issuer: 'https://accounts.example.com',
    ...lines(['sub', '1234'], ['', ''], ['google > compute > zone', 'europe'], ['attempts', 'json', '2']),
    jwks_url: 'https://accounts.example.com/keys',
    audiences: 'one two',
    replay: 'once',
  }
  const { location } = await admin.post('/portal/new-trusted-issuer', other)
  const [accounts, kubernetes] = await issuers()
  expect(kubernetes?.rules[0]?.claims).toEqual({ sub: 'system:serviceaccount:orders:api' })
  expect(accounts).toMatchObject({
    jwksUrl: 'https://accounts.example.com/keys',
    audiences: ['one', 'two'],
    detectReplay: true,
    rules: [{ claims: { sub: '1234', google: { compute: { zone: 'europe' } }, attempts: 2 } }],
  })
  expect(shown((await admin.get(location ?? '')).text, 'audience')).toBe('one')
  const changed = { issuer: 'https://accounts.example.com', ...settings }
  expect((await admin.post(location ?? '', changed)).status).toBe(303)
  const [after] = await issuers()
  expect(after).toMatchObject({ audiences: [], detectReplay: false, rules: accounts?.rules })
  expect(after).not.toHaveProperty('jwksUrl')
})

it('says at each field what is wrong, all at once, and keeps what was entered', async () => {
  const { admin, project, issuers } = await withOrders()
  await createApplication(admin, project, { name: 'Ordérs' })
  const noName = 'There is no application with this name or client ID.'
  const wrong: readonly (readonly [Readonly<Record<string, string>>, readonly string[]])[] = [
    [{ application: 'Nobody' }, [noName]],
    [{ application: 'orders' }, ['Several applications have this name. Enter the client ID.']],
    [
      { application: '', issuer: '', ...lines(['repository', ''], ['', 'main']) },
      [
        'This must be 1 to 1000 printable ASCII characters.',
        'Enter the name or client ID',
        'Enter the value of repository',
        'Enter the claim',
      ],
    ],
    [
      { application: 'Nobody', ...lines(['ref', 'refs/heads/main'], ['', '']) },
      [noName, 'The claims must contain the repository'],
    ],
    [
      { jwks_url: 'http://keys.example.com', ...lines(['repository', 'x*'], ['a >', 'b']) },
      ['must be an https URL', '“a &gt;” is not the name'],
    ],
    [
      { ...lines(['n', 'json', 'many'], ['n > a', 'x'], ['n', 'json', '1']) },
      ['Enter a number, true or false'],
    ],
    [{ ...lines(['a', 'x'], ['a > b', 'y']) }, ['a &gt; b is listed twice']],
    [
      { issuer: 'https://ci.example.com', ...lines(['a', 'x*'], ['', '']) },
      ['A text can end with * only after'],
    ],
    [{ ...lines(['', ''], ['', '']) }, ['Enter at least one claim.']],
  ]
  for (const [form, messages] of wrong) {
    const { status, text } = await trustGithub(admin, { ...form })
    const missing = messages.filter((message) => !text.includes(message))
    expect([status, missing]).toEqual([422, []])
    if (!('claim_1' in form)) expect(text).toContain('value="example/orders"')
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
