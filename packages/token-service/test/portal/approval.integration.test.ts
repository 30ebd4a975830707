import { describe, expect, it } from 'vitest'
import { introspect, resourceServer } from '../test-service.ts'
import {
  applicationForm,
  cells,
  createApplication,
  createProject,
  decide,
  idIn,
  plainText,
  startPortal,
  tokenFor,
  useCheapPasswords,
} from './portal-browser.ts'

useCheapPasswords()

const products = ['admin', 'payroll', 'speech-to-text']

async function approvedApplication() {
  const portal = await startPortal({ products, scopes: ['orders:read'], resourceServers: [resourceServer] })
  const { admin, developer, service } = portal
  const grace = await developer('grace')
  const application = await createApplication(grace, await createProject(grace))
  await decide(admin, application.path, 'approve')
  const { body } = await tokenFor(service.authUrl, application)
  await grace.get(application.path)
  const settings = (form: Readonly<Record<string, string | string[]>>) => {
    const fields = Object.entries({ ...applicationForm, csrf_token: grace.csrfToken, ...form })
    const pairs = fields.flatMap(([name, value]) => [value].flat().map((each) => [name, each]))
    return grace.send(`${application.path}/settings`, { method: 'POST', body: new URLSearchParams(pairs) })
  }
  const oldToken: string = body.access_token
  return { ...portal, grace, application, settings, authUrl: service.authUrl, oldToken }
}

it('what was requested first comes first in the queue, whenever the application was created', async () => {
  const time = { now: Date.UTC(2026, 0, 31, 12) }
  const { admin, developer } = await startPortal({ clock: { now: () => time.now } })
  const grace = await developer('grace')
  const project = await createProject(grace)
  const old = await createApplication(grace, project, { name: 'Old' })
  await decide(admin, old.path, 'approve')
  time.now += 60_000
  await createApplication(grace, project, { name: 'New' })
  time.now += 60_000
  await grace.post(`${old.path}/settings`, { ...applicationForm, name: 'Old', lifetime: '7200' })
  const { text } = await admin.get('/portal/approvals')
  expect(cells(text, 'name').map((cell) => cell.slice(0, 3))).toEqual(['New', 'Old'])
})

describe('a developer who widens an approved application', () => {
  it('gets the approved products and lifetime until the administrator approves', async () => {
    const { admin, grace, application, settings, authUrl, oldToken } = await approvedApplication()
    const widened = { product: products, lifetime: '365', lifetime_unit: 'days', name: 'Renamed' }
    expect((await settings(widened)).location).toBe(application.path)
    expect((await grace.get(application.path)).text).toContain('Changes pending approval')

    const pending = (await tokenFor(authUrl, application)).body
    expect(pending).toMatchObject({
      application_name: 'Transcriber',
      api_product_list_json: ['speech-to-text'],
      expires_in: '3600',
    })
    for (const token of [oldToken, pending.access_token]) {
      expect((await introspect(authUrl, token)).body).toMatchObject({ api_products: ['speech-to-text'] })
    }
    expect((await decide(grace, application.path, 'decline')).status).toBe(403)
    const revision = '99'
    const approval = await grace.post(`${application.path}/approval`, { decision: 'approve', revision })
    expect(approval.status).toBe(403)

    await decide(admin, application.path, 'approve')
    expect((await grace.get(application.path)).text).not.toContain('Changes pending approval')
    const approved = (await tokenFor(authUrl, application)).body
    expect(approved).toMatchObject({ api_product_list_json: products, expires_in: '31536000' })
    expect((await introspect(authUrl, approved.access_token)).body).toMatchObject({ api_products: products })
    expect((await introspect(authUrl, oldToken)).body).toMatchObject({ api_products: ['speech-to-text'] })
  })

  it('keeps the approval if the administrator declines', async () => {
    const { admin, grace, application, settings, authUrl } = await approvedApplication()
    await settings({ product: products })
    const tooLong = await decide(admin, application.path, 'decline', { reason: 'y'.repeat(501) })
    expect([tooLong.status, tooLong.text]).toEqual([422, expect.stringContaining('y'.repeat(501))])
    const { location } = await decide(admin, application.path, 'decline', {
      reason: 'Payroll is for finance.',
    })
    expect(location).toBe(application.path)
    const { text } = await grace.get(application.path)
    expect(text).not.toContain('Changes pending approval')
    expect(plainText(text)).toMatch(/declined\s+the requested changes: Payroll is for finance\./)
    expect((await tokenFor(authUrl, application)).body.api_product_list_json).toEqual(['speech-to-text'])

    await decide(admin, application.path, 'undo_decline')
    expect((await grace.get(application.path)).text).toContain('Changes pending approval')
    await decide(admin, application.path, 'approve')
    expect((await tokenFor(authUrl, application)).body.api_product_list_json).toEqual(products)
    expect((await grace.get(application.path)).text).not.toContain('declined')
  })

  it('cannot change what the administrator is about to approve', async () => {
    const { admin, application, settings, authUrl } = await approvedApplication()
    await settings({ product: ['payroll', 'speech-to-text'] })
    const seen = /name="revision" value="(\d+)"/.exec((await admin.get(application.path)).text)?.[1] ?? ''
    await settings({ product: products })
    const decision = await admin.post(`${application.path}/approval`, { decision: 'approve', revision: seen })
    expect([decision.status, decision.text]).toEqual([409, expect.stringContaining('has changed')])
    expect((await tokenFor(authUrl, application)).body.api_product_list_json).toEqual(['speech-to-text'])
  })

  it('can narrow it at once, for tokens that were issued before too', async () => {
    const { application, settings, authUrl, oldToken } = await approvedApplication()
    await settings({ product: [], lifetime: '60' })
    expect((await introspect(authUrl, oldToken)).body).toMatchObject({ active: true, api_products: [] })
    expect((await tokenFor(authUrl, application)).body).toMatchObject({ expires_in: '60' })
  })

  it('gets more scopes when the administrator approves, and loses them in tokens that have them', async () => {
    const { admin, application, settings, authUrl } = await approvedApplication()
    const scopeOf = async (token: string) => (await introspect(authUrl, token)).body.scope
    await settings({ product: ['speech-to-text'], scope: 'orders:read' })
    expect((await admin.get('/portal/approvals')).text).toContain('orders:read')
    expect((await tokenFor(authUrl, application)).body.scope).toBe('')
    await decide(admin, application.path, 'approve')
    const { access_token: token, scope } = (await tokenFor(authUrl, application)).body
    expect([scope, await scopeOf(token)]).toEqual(['orders:read', 'orders:read'])
    await settings({ product: ['speech-to-text'], scope: [] })
    expect(await scopeOf(token)).toBe('')
    expect((await settings({ scope: 'admin' })).status).toBe(400)
  })

  it('can choose only products from the catalogue', async () => {
    const { settings } = await approvedApplication()
    expect((await settings({ product: 'root' })).status).toBe(400)
  })
})

describe('a new application', () => {
  it('leaves the queue when the administrator declines it', async () => {
    const { admin, developer, service } = await startPortal({ products })
    const grace = await developer('grace')
    const application = await createApplication(grace, await createProject(grace))
    const { location } = await decide(admin, application.path, 'decline', {
      from: 'approvals',
      reason: 'Which team\r\nuses it? <b>',
    })
    expect(location).toMatch(/^\/portal\/approvals\?decided=request_declined/)
    expect((await admin.get('/portal/approvals')).text).toContain('No pending approvals')
    expect((await tokenFor(service.authUrl, application)).status).toBe(401)
    const { text } = await grace.get(application.path)
    expect(text).toContain('>Declined<')
    expect(plainText(text)).toMatch(/declined\s+the application: Which team\nuses it\? <b>/)
    expect(text).not.toContain('<b>')
    expect((await admin.get('/portal/audit')).text).toContain('Which team')
  })

  it('waits again when the administrator undoes it, or its owner changes it', async () => {
    const { admin, developer } = await startPortal({ products })
    const grace = await developer('grace')
    const application = await createApplication(grace, await createProject(grace), {
      ...applicationForm,
      note: 'For the call centre',
    })
    const isQueued = async () => (await admin.get('/portal/approvals')).text.includes(application.clientId)
    expect((await admin.get('/portal/approvals')).text).toContain('For the call centre')
    const { location } = await decide(admin, application.path, 'decline', { from: 'approvals' })
    expect(await isQueued()).toBe(false)
    expect((await grace.get(application.path)).text).not.toContain('>Undo<')
    expect((await decide(grace, application.path, 'undo_decline')).status).toBe(403)
    expect((await admin.get(location ?? '')).text).toContain('>Undo<')
    const undo = { decision: 'undo_decline', from: 'approvals' }
    expect((await admin.post(`${application.path}/approval`, undo)).location).toBe('/portal/approvals')
    const queue = await admin.get('/portal/approvals')
    expect(queue.text).toContain('The request waits for a decision again.')
    expect(queue.text).toContain('For the call centre')
    expect((await admin.post(`${application.path}/approval`, undo)).status).toBe(409)

    await decide(admin, application.path, 'decline', { reason: 'No' })
    await grace.get(application.path)
    const settings = { ...applicationForm, name: 'Renamed', note: 'Now with a team' }
    expect((await grace.post(`${application.path}/settings`, settings)).location).toBe(application.path)
    expect(await isQueued()).toBe(true)
    expect((await admin.get(application.path)).text).toContain('Now with a team')
    expect((await admin.post(`${application.path}/approval`, undo)).status).toBe(409)
    expect((await grace.get(application.path)).text).not.toContain('declined')
  })

  it('that was revoked does not wait again when its owner changes it', async () => {
    const { admin, grace, application } = await approvedApplication()
    await decide(admin, application.path, 'revoke')
    await grace.get(application.path)
    await grace.post(`${application.path}/settings`, { ...applicationForm, name: 'Renamed' })
    expect((await admin.get('/portal/approvals')).text).toContain('No pending approvals')
  })

  it.each([
    ['x'.repeat(501), 'Use at most 500 characters.'],
    ['hidden \u200b', 'This must not contain control or invisible characters.'],
  ])('has a note that people can read: %#', async (note, message) => {
    const { developer } = await startPortal({ products })
    const grace = await developer('grace')
    const project = await createProject(grace)
    const { status, text } = await grace.post('/portal/new-application', {
      ...applicationForm,
      project: idIn(project),
      submission_id: crypto.randomUUID(),
      note,
    })
    expect([status, text]).toEqual([422, expect.stringContaining(message)])
  })
})

describe('several new applications', () => {
  it('are approved at once, except those that have changed in the meantime', async () => {
    const { admin, developer, service } = await startPortal({ products })
    const grace = await developer('grace')
    const project = await createProject(grace)
    const created = [
      await createApplication(grace, project),
      await createApplication(grace, project),
    ] as const
    const { text } = await admin.get('/portal/approvals')
    const selected = [...text.matchAll(/name="selected"\s+value="([^"]+)"/g)].map(([, value]) => value ?? '')
    expect(selected).toHaveLength(2)
    const changed = created[1]
    await grace.post(`${changed.path}/settings`, { ...applicationForm, name: 'Changed' })
    const send = (values: readonly string[], browser = admin) => {
      const fields = [['csrf_token', browser.csrfToken], ...values.map((each) => ['selected', each])]
      return browser.send('/portal/approvals', { method: 'POST', body: new URLSearchParams(fields) })
    }
    expect((await send(selected, grace)).status).toBe(403)
    expect((await send([])).status).toBe(422)
    expect((await send(['nonsense'])).status).toBe(400)
    const { location } = await send(selected)
    const confirmed = await admin.get(location ?? '')
    expect(plainText(confirmed.text)).toContain('Nothing was decided on 1 that has changed in the meantime')
    expect(confirmed.text).toContain('<title>1 approved · Approvals')
    const statuses = await Promise.all(
      created.map(async (each) => (await tokenFor(service.authUrl, each)).status),
    )
    expect(statuses).toEqual([200, 401])
  })
})

describe('what was decided', () => {
  it('is named with a way back, for the one who decided it', async () => {
    const time = { now: Date.UTC(2026, 0, 31, 12) }
    const { admin, developer } = await startPortal({ clock: { now: () => time.now } })
    const grace = await developer('grace')
    const project = await createProject(grace)
    const created = []
    for (const name of ['Ärger', 'Billing', 'Claims', '<i>']) {
      created.push(await createApplication(grace, project, { name }))
      time.now += 1000
    }
    await decide(admin, created[0]!.path, 'approve')
    time.now += 1000
    const { text } = await admin.get('/portal/approvals')
    const selected = [...text.matchAll(/name="selected"\s+value="([^"]+)"/g)].map(([, value]) => value ?? '')
    const fields = [['csrf_token', admin.csrfToken], ...selected.map((each) => ['selected', each])]
    const { location } = await admin.send('/portal/approvals', {
      method: 'POST',
      body: new URLSearchParams(fields),
    })
    time.now += 60_000
    const confirmed = (await admin.get(location ?? '')).text
    const [, notice = ''] = /<div role="status"[^>]*autofocus[^>]*>(.*?)<\/details>/s.exec(confirmed) ?? []
    expect(plainText(notice).replaceAll(/\s+/g, ' ')).toContain('3 approved: Billing, Claims, <i>')
    for (const { path } of created.slice(1)) expect(notice).toContain(`${path}/settings#more`)
    expect(notice).not.toContain(created[0]!.path)
    expect((await admin.get('/portal/approvals')).text).not.toContain('3 approved')

    // Nobody else reads there what they did not decide.
    expect((await grace.get(location ?? '')).status).toBe(403)
  })
})

describe('several requests', () => {
  it('are declined at once, with one reason, and stay in their part of the queue', async () => {
    const { admin, developer, service } = await startPortal({ products })
    const grace = await developer('grace')
    const project = await createProject(grace)
    const created = [
      await createApplication(grace, project),
      await createApplication(grace, project),
    ] as const
    const part = `/portal/approvals?show=pending&project=${idIn(project)}`
    const { text } = await admin.get(part)
    const selected = [...text.matchAll(/name="selected"\s+value="([^"]+)"/g)].map(([, value]) => value ?? '')
    expect(selected).toHaveLength(2)
    const fields = [
      ['csrf_token', admin.csrfToken],
      ['decision', 'decline'],
      ['reason', 'Not this year'],
      ...selected.map((each) => ['selected', each]),
    ]
    const { location } = await admin.send(part, { method: 'POST', body: new URLSearchParams(fields) })
    const { text: confirmed } = await admin.get(location ?? '')
    expect(confirmed).toContain('<title>2 declined · Approvals')
    expect(confirmed.match(/>Undo</g)).toHaveLength(2)
    expect(location).toContain(part)
    for (const each of created) {
      expect((await tokenFor(service.authUrl, each)).status).toBe(401)
      expect((await grace.get(each.path)).text).toContain('Not this year')
    }
  })

  it('show only what an approval adds', async () => {
    const { admin, developer } = await startPortal({ products })
    const grace = await developer('grace')
    const application = await createApplication(grace, await createProject(grace))
    expect(cells((await admin.get('/portal/approvals')).text, 'text')).toEqual([
      'speech-to-texttokens for 1 hour',
    ])
    await decide(admin, application.path, 'approve')
    const form = [
      ...Object.entries({
        ...applicationForm,
        csrf_token: grace.csrfToken,
        lifetime: '7',
        lifetime_unit: 'days',
      }),
      ['product', 'payroll'],
    ]
    await grace.send(`${application.path}/settings`, { method: 'POST', body: new URLSearchParams(form) })
    expect(cells((await admin.get('/portal/approvals?show=changes')).text, 'text')).toEqual([
      'payrolltokens for 7 days',
    ])
    expect(cells((await admin.get('/portal/approvals?show=pending')).text, 'text')).toEqual([])
  })
})

describe('a developer', () => {
  it('can have up to 20 applications that wait for approval', async () => {
    const { developer } = await startPortal({ products })
    const grace = await developer('grace')
    const project = await createProject(grace)
    const create = () =>
      grace.post('/portal/new-application', {
        ...applicationForm,
        project: idIn(project),
        submission_id: crypto.randomUUID(),
      })
    for (let each = 0; each < 20; each += 1) expect((await create()).status).toBe(200)
    const { status, text } = await create()
    expect([status, text]).toEqual([409, expect.stringContaining('Too many pending applications')])
  })
})

describe('a request that is open', () => {
  it('ends when the application is revoked, and is in no queue', async () => {
    const { admin, application, settings, authUrl } = await approvedApplication()
    await settings({ lifetime: '7200', product: products })
    const seen = cells((await admin.get('/portal/approvals')).text, 'name')
    expect(seen).toEqual([expect.stringContaining('Transcriber')])
    const page = await admin.get('/portal/approvals')
    const [, choice = ''] = /name="selected"\s+value="([^"]+)"/.exec(page.text) ?? []
    await decide(admin, application.path, 'revoke')
    expect(cells((await admin.get('/portal/approvals')).text, 'name')).toEqual([])
    for (const form of [{ selected: choice }, { approve: choice }]) {
      const { location } = await admin.post('/portal/approvals', { ...form, reason: '' })
      expect((await admin.get(location!)).text).toContain('changed')
    }
    expect((await tokenFor(authUrl, application)).status).toBe(401)
    expect(plainText((await admin.get(application.path)).text)).toContain('Revoked')
  })

  it.each(['application', 'project'])('ends when the %s is deleted, and does not return', async (deleted) => {
    const { admin, grace, application, settings, authUrl } = await approvedApplication()
    await settings({ lifetime: '7200' })
    const path = deleted === 'project' ? application.path.replace(/\/applications.*/, '') : application.path
    await grace.post(`${path}/deletion`, { decision: 'delete' })
    await grace.post(`${path}/deletion`, { decision: 'restore' })
    expect(cells((await admin.get('/portal/approvals')).text, 'name')).toEqual([])
    expect((await tokenFor(authUrl, application)).body).toMatchObject({ expires_in: '3600' })
  })
})

describe('tokens', () => {
  it('can all be revoked by the owner of the application', async () => {
    const { grace, application, authUrl, oldToken } = await approvedApplication()
    expect((await decide(grace, application.path, 'revoke_tokens')).location).toBe(application.path)
    expect((await introspect(authUrl, oldToken)).body).toEqual({ active: false })
    const { body } = await tokenFor(authUrl, application)
    expect((await introspect(authUrl, body.access_token)).body).toMatchObject({ active: true })
  })

  it('end with the secret that they were issued for', async () => {
    const { grace, application, authUrl, oldToken } = await approvedApplication()
    const { text } = await grace.get(`${application.path}/credentials`)
    const [path = ''] = /\/portal\/[^"]+\/revocation/.exec(text) ?? []
    await grace.post(path)
    expect((await introspect(authUrl, oldToken)).body).toEqual({ active: false })
  })
})

describe('the catalogue of products', () => {
  it('is changed by the administrator', async () => {
    const { admin, developer } = await startPortal({ products })
    const grace = await developer('grace')
    expect((await grace.get('/portal/products')).status).toBe(403)
    expect((await grace.post('/portal/products', { name: 'x' })).status).toBe(403)
    await admin.get('/portal/products')
    expect((await admin.post('/portal/products', { name: 'a, b' })).status).toBe(422)
    expect((await admin.post('/portal/products', { name: 'billing' })).location).toBe('/portal/products')
    await admin.post('/portal/products/removal', { name: 'payroll' })
    await createProject(grace)
    const { text } = await grace.get('/portal/new-application')
    expect(text).not.toMatch(/name="product"[^>]+checked/)
    const offered = [...text.matchAll(/name="product"\s+value="([^"]+)"/g)].map(([, product]) => product)
    expect(offered).toEqual(['admin', 'billing', 'speech-to-text'])
  })

  it('says how many applications have each product', async () => {
    const { admin } = await startPortal({ products })
    const project = await createProject(admin)
    for (let each = 0; each < 2; each += 1) await createApplication(admin, project)
    const { text } = await admin.get('/portal/products')
    expect(cells(text, 'status')).toEqual(['none', 'none', '2 applications'])
    expect(text).toContain('href="/portal/applications?product=speech-to-text"')
    const { text: applications } = await admin.get('/portal/applications?product=speech-to-text')
    expect(cells(applications, 'name')).toHaveLength(2)
    expect((await admin.get('/portal/applications?product=speech')).text).toContain('Nothing matches.')
  })

  it('describes products to those who choose them', async () => {
    const { admin, service } = await startPortal({
      products: ['sms', { name: 'voice', description: 'Makes calls' }],
    })
    await admin.get('/portal/products')
    const changed = { name: 'sms', description: 'Sends messages' }
    expect((await admin.post('/portal/products', changed)).location).toBe('/portal/products')
    const products = await admin.get('/portal/products?change=sms')
    expect(cells(products.text, 'name')).toEqual(['smsSends messages', 'voiceMakes calls'])
    expect(products.text).toContain('value="Sends messages"')
    expect(products.text).toContain('href="/portal/products#name"')
    await createProject(admin)
    expect((await admin.get('/portal/new-application')).text).toContain('Sends messages')
    await admin.post('/portal/products', { name: 'sms', description: '' })
    expect(await service.context.storage.products.list()).toEqual([
      { name: 'sms' },
      { name: 'voice', description: 'Makes calls' },
    ])
  })
})
