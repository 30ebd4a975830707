import { decodeJwt } from 'jose'
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { introspect } from '../test-service.ts'
import {
  applicationForm,
  cells,
  idIn,
  tokenFor,
  createProject,
  decide,
  password,
  plainText,
  shown,
  startPortal,
  withApplication,
  useCheapPasswords,
} from './portal-browser.ts'

useCheapPasswords()

describe('an application', () => {
  it('is created from the form, and its secret is shown once', async () => {
    const { admin, authUrl, application, project } = await withApplication({
      product: 'speech-to-text',
      response_form: 'products',
      lifetime: '90',
    })
    const { body } = await tokenFor(authUrl, application)
    expect(body).toMatchObject({
      application_name: 'Transcriber',
      api_product_list_json: ['speech-to-text'],
      expires_in: '90',
      organization_name: 'Example',
      developer_email: 'ada@example.com',
    })
    const credentials = `${application.path}/credentials`
    for (const path of ['/portal/applications', project, credentials]) {
      const { text } = await admin.get(path)
      expect(text).toContain(application.clientId)
      expect(text).not.toContain(application.clientSecret)
    }
    expect((await admin.get(credentials)).text).toContain(`${application.clientSecret.slice(0, 4)}…`)
  })

  it('is created once by a form that is sent twice', async () => {
    const { admin, project } = await withApplication()
    const form = {
      ...applicationForm,
      name: 'Twice',
      project: idIn(project),
      submission_id: crypto.randomUUID(),
    }
    const responses = await Promise.all([1, 2, 3].map(() => admin.post('/portal/new-application', form)))
    expect(responses.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 303, 303])
    expect((await admin.get(project)).text.match(/>Twice</g)).toHaveLength(1)
    expect((await admin.post('/portal/new-application', { ...form, submission_id: 'x' })).status).toBe(400)
  })

  it('gets JWTs for the audiences that its owner enters', async () => {
    const tokens = { token_format: 'jwt', audiences: ' https://a.example.com  b\thttps://a.example.com ' }
    const { admin, authUrl, application } = await withApplication(tokens)
    const { body } = await tokenFor(authUrl, application)
    expect(decodeJwt(body.access_token).aud).toEqual(['https://a.example.com', 'b'])
    expect((await admin.get(`${application.path}/settings`)).text).toContain(
      'value="https://a.example.com b"',
    )
    expect(plainText((await admin.get(application.path)).text)).toMatch(/Token format\s+JWT/)
  })

  it('can be changed', async () => {
    const { admin, authUrl, application } = await withApplication()
    const form = { ...applicationForm, response_form: 'refresh', level: 'silver', lifetime: ' 60 ' }
    expect((await admin.post(`${application.path}/settings`, form)).location).toBe(application.path)
    expect((await tokenFor(authUrl, application)).body).toMatchObject({
      level: 'silver',
      expires_in: '60',
      refresh_token: '',
    })
  })

  it.each([
    [{ name: ' ' }, 'This field is required'],
    [{ project: '' }, 'Choose a project'],
    [{ name: 'a\u0001b' }, 'control or invisible characters'],
    [{ level: 'x'.repeat(201) }, 'at most 200'],
    [{ response_form: 'other' }, 'Invalid'],
    [{ token_format: 'jwt' }, 'Enter the API that the tokens are for'],
    [{ token_format: 'jwt', audiences: 'a "b"' }, 'Enter URIs'],
    [{ lifetime: '0' }, 'at least 1 second'],
    [{ lifetime: '1e3' }, 'whole number'],
    [{ lifetime: '31536001' }, 'at most 365 days'],
    [{ name: ' ', lifetime: '0' }, String.raw`required[^]*at least 1 second`],
  ])('is not created from %j', async (form, message) => {
    const { admin } = await startPortal()
    const project = await createProject(admin)
    const submissionId = crypto.randomUUID()
    const { status, text } = await admin.post('/portal/new-application', {
      ...applicationForm,
      project: idIn(project),
      submission_id: submissionId,
      ...form,
    })
    expect([status, text]).toEqual([422, expect.stringMatching(message)])
    expect(text).toContain(`value="${submissionId}"`)
    expect((await admin.get(project)).text).toContain('No applications yet')
  })

  it('gets no tokens while it is revoked, and its tokens stay inactive', async () => {
    const { admin, authUrl, application } = await withApplication()
    const { access_token: token } = (await tokenFor(authUrl, application)).body
    await admin.post(`${application.path}/approval`, { decision: 'revoke' })
    expect((await tokenFor(authUrl, application)).status).toBe(401)
    expect((await introspect(authUrl, token)).body).toEqual({ active: false })
    await decide(admin, application.path, 'approve')
    expect((await tokenFor(authUrl, application)).status).toBe(200)
    expect((await introspect(authUrl, token)).body).toEqual({ active: false })
    expect((await admin.post(`${application.path}/approval`, { decision: 'other' })).status).toBe(400)
  })

  it('shows its token requests by hour and by day, with the reasons of failures', async () => {
    const { admin, authUrl, application, time } = await withApplication()
    const show = async (range: string) => (await admin.get(`${application.path}?range=${range}`)).text
    const summary = (text: string) =>
      /id="usage-summary".*?<\/p>/s
        .exec(text)?.[0]
        .replaceAll(/<[^>]+>|id="[^"]+">/g, ' ')
        .replaceAll(/\s+/g, ' ')
        .trim()
    expect(await show('24h')).toContain('No token requests in the last 24 hours')
    for (let each = 0; each < 3; each += 1) await tokenFor(authUrl, application)
    await tokenFor(authUrl, { ...application, clientSecret: 'wrong' })
    time.now += 2 * 86_400_000
    await admin.get('/portal/log-in')
    await admin.post('/portal/log-in', { name: 'ada', password })
    await tokenFor(authUrl, application)
    const lastDay = '1 issued 0 failed 100% succeeded in the last 24 hours'
    expect(summary(await show('24h'))).toBe(lastDay)
    const week = await show('7d')
    expect(summary(week)).toBe('4 issued 1 failed 80.0% succeeded in the last 7 days')
    const month = await show('30d')
    // Two of each day, and that of the page.
    expect(month.match(/<title>/g)?.length).toBe(61)
    // Of 4: the failure stands on the three tokens of its day. Below, a quarter has failed.
    const bars = [...month.matchAll(/class="(issued|failed)"\s+x="([\d.]+)"\s+y="(\d+)"[^>]+height="(\d+)"/g)]
    expect(bars.map(([, ...bar]) => bar)).toEqual([
      ['issued', '542.5', '25', '75'],
      ['failed', '542.5', '0', '25'],
      ['issued', '582.5', '75', '25'],
      ['failed', '542.5', '0', '100'],
    ])
    expect(month).toContain('<span>25%</span>')
    // A part of the axis for each bar, some of them with a label.
    const axis = /class="x-axis"[^>]*>(.*?)<\/div>/s.exec(month)?.[1] ?? ''
    const labels = [...axis.matchAll(/<span>(.*?)<\/span>/g)].map(([, label]) => label)
    expect(labels).toHaveLength(30)
    // The last bar is that of 2 February.
    expect([labels[28], labels[23]]).toEqual(['1 Feb', '27 Jan'])
    expect(labels.filter((label) => label === '')).toHaveLength(24)
    expect(summary(await show('nonsense'))).toBe(lastDay)
  })

  it('lists its latest token requests, and those that failed for one reason', async () => {
    const { admin, authUrl, application } = await withApplication()
    await tokenFor(authUrl, application)
    for (let each = 0; each < 2; each += 1) await tokenFor(authUrl, { ...application, clientSecret: 'wrong' })
    const show = async (query: string) => (await admin.get(`${application.path}/requests${query}`)).text
    const results = (text: string) => cells(text, 'name')
    expect(results(await show('')).sort()).toEqual(['Invalid credentials', 'Token issued'])
    const failed = await show('?show=invalid_client')
    expect(results(failed)).toEqual(['Invalid credentials'])
    expect(failed).toContain('it is wrong or was revoked')
    expect(plainText(failed)).toMatch(/All\s+3[^]*Token issued\s+1[^]*Invalid credentials\s+2/)
    expect(results(await show('?show=nonsense'))).toHaveLength(2)
  })

  it('is moved, deleted and restored by its owner', async () => {
    const { admin, authUrl, application, project } = await withApplication()
    const other = await createProject(admin, 'Other')
    const id = (path: string) => path.split('/').at(-1) ?? ''
    const { location } = await admin.post(`${application.path}/project`, { project: id(other) })
    expect(location).toBe(`${other}/applications/${id(application.path)}`)
    expect((await admin.get(application.path)).status).toBe(404)
    const path = location ?? ''
    expect((await tokenFor(authUrl, application)).status).toBe(200)
    expect((await admin.post(`${path}/project`, { project: 'nowhere' })).status).toBe(409)

    await admin.post(`${path}/deletion`, { decision: 'delete' })
    expect((await tokenFor(authUrl, application)).status).toBe(401)
    expect((await admin.get(path)).text).toContain('It can be restored until')
    await admin.post(`${path}/deletion`, { decision: 'restore' })
    expect((await tokenFor(authUrl, application)).status).toBe(200)
    await admin.post(`${other}/deletion`, { decision: 'delete' })
    expect((await tokenFor(authUrl, application)).status).toBe(401)
    const inDeleted = { ...applicationForm, project: idIn(other), submission_id: crypto.randomUUID() }
    expect((await admin.post('/portal/new-application', inDeleted)).status).toBe(422)
    await admin.post(`${other}/deletion`, { decision: 'restore' })
    expect((await tokenFor(authUrl, application)).status).toBe(200)
    expect((await admin.post(`${project}/deletion`, { decision: 'other' })).status).toBe(400)
  })
})

describe('rotating a secret', () => {
  const rotate = async (portal: Awaited<ReturnType<typeof withApplication>>, overlap: string) => {
    const { admin, application } = portal
    const { text } = await admin.post(`${application.path}/secrets`, {
      overlap,
      submission_id: crypto.randomUUID(),
    })
    return { ...application, clientSecret: shown(text, 'client-secret') }
  }

  it('says that the tokens end, too, and leads there with the word leaked', async () => {
    const portal = await withApplication()
    const page = (await portal.admin.get(`${portal.application.path}/credentials`)).text
    const [, leaked = ''] = /<dialog id="leaked"(.*?)<\/dialog>/s.exec(page) ?? []
    expect(leaked).toMatch(/name="overlap" value="now"/)
    expect(plainText(leaked)).toMatch(/the tokens that were issued for them,\s+become invalid at once/)
    const { text } = await portal.admin.post(`${portal.application.path}/secrets`, {
      overlap: 'now',
      submission_id: crypto.randomUUID(),
    })
    expect(plainText(text)).toContain('the tokens that were issued for them are invalid')
  })

  it.each([
    ['now', 0],
    ['hour', 3_600],
    ['day', 86_400],
    ['month', 30 * 86_400],
  ])('keeps the existing secret valid until it expires: %s', async (overlap, seconds) => {
    const portal = await withApplication()
    const { authUrl, application, time } = portal
    const second = await rotate(portal, overlap)
    expect(second.clientSecret).toMatch(/^[\w-]{43}$/)
    time.now += seconds * 1000 - 1
    expect((await tokenFor(authUrl, application)).status).toBe(200)
    time.now += 1
    expect((await tokenFor(authUrl, application)).status).toBe(401)
    expect((await tokenFor(authUrl, second)).status).toBe(200)
  })

  it('keeps the existing secret valid until it is revoked', async () => {
    const portal = await withApplication()
    const { admin, authUrl, application, time } = portal
    const second = await rotate(portal, 'never')
    time.now += 3_600_000
    for (const each of [application, second]) expect((await tokenFor(authUrl, each)).status).toBe(200)
    const credentials = `${application.path}/credentials`
    const { text } = await admin.get(credentials)
    const [oldest] = [...text.matchAll(/secrets\/([\w-]+)\/revocation/g)].map(([, id]) => id)
    expect((await admin.post(`${application.path}/secrets/${oldest}/revocation`)).location).toBe(credentials)
    expect((await tokenFor(authUrl, application)).status).toBe(401)
    expect((await tokenFor(authUrl, second)).status).toBe(200)
    expect((await admin.post(`${application.path}/secrets/${oldest}/revocation`)).status).toBe(303)
  })

  it('makes no token active again by the form of a secret that was revoked', async () => {
    const { admin, authUrl, application } = await withApplication()
    const form = { overlap: 'month', submission_id: crypto.randomUUID() }
    const { text } = await admin.post(`${application.path}/secrets`, form)
    const { body } = await tokenFor(authUrl, { ...application, clientSecret: shown(text, 'client-secret') })
    const isActive = async () => (await introspect(authUrl, body.access_token)).body.active as boolean
    expect(await isActive()).toBe(true)
    const page = (await admin.get(`${application.path}/credentials`)).text
    for (const [path] of page.matchAll(/\/portal\/[^"]+\/revocation/g)) await admin.post(path)
    expect(await isActive()).toBe(false)
    await admin.post(`${application.path}/secrets`, form)
    expect(await isActive()).toBe(false)
    expect(page).not.toContain(form.submission_id)
  })

  it('happens once by a form that is sent twice, and up to ten secrets', async () => {
    const portal = await withApplication()
    const { admin, application } = portal
    const form = { overlap: 'never', submission_id: crypto.randomUUID() }
    expect((await admin.post(`${application.path}/secrets`, form)).status).toBe(200)
    const again = await admin.post(`${application.path}/secrets`, form)
    expect(again.location).toBe(`${application.path}/credentials`)
    expect((await admin.post(`${application.path}/secrets`, { ...form, overlap: 'forever' })).status).toBe(
      400,
    )
    for (let secret = 2; secret < 10; secret += 1) await rotate(portal, 'never')
    const response = await admin.post(`${application.path}/secrets`, {
      ...form,
      submission_id: crypto.randomUUID(),
    })
    expect([response.status, response.text]).toEqual([409, expect.stringContaining('Too many secrets')])
  })
})

describe('a public key', () => {
  const pem = () => generateKeyPairSync('ec', { namedCurve: 'P-256' })

  it('is registered from PEM and removed, and a private key is rejected', async () => {
    const { admin, application } = await withApplication()
    const { publicKey, privateKey } = pem()
    const text = (key: KeyObject, type: 'spki' | 'pkcs8') =>
      String(key.export({ type, format: 'pem' } as never))
    const rejected = await admin.post(`${application.path}/keys`, { key: text(privateKey, 'pkcs8') })
    expect([rejected.status, rejected.text]).toEqual([422, expect.stringContaining('private')])
    expect(rejected.text).not.toContain('BEGIN PRIVATE KEY')
    expect((await admin.post(`${application.path}/keys`, { key: 'nonsense' })).status).toBe(422)
    const added = await admin.post(`${application.path}/keys`, { key: text(publicKey, 'spki') })
    const credentials = `${application.path}/credentials`
    expect(added.location).toBe(credentials)
    const page = (await admin.get(credentials)).text
    const keys = (text: string) => cells(text, 'name').filter((name) => name.includes('Public key'))
    expect(keys(page)).toEqual([expect.stringMatching(/^[\w-]{43} ?Public key$/)])
    const [renaming = ''] = /\/portal\/[^"]+\/keys\/[\w-]+(?=")/.exec(page) ?? []
    expect((await admin.post(renaming, { name: 'build server' })).location).toBe(credentials)
    const renamed = (await admin.get(credentials)).text
    expect(renamed).toContain('The public key was renamed.')
    expect(keys(renamed)).toEqual([expect.stringMatching(/^build server ?Public key [\w-]{43}$/)])
    expect((await admin.post(renaming, { name: ' ' })).status).toBe(400)
    expect((await admin.post(`${application.path}/keys/unknown`, { name: 'x' })).status).toBe(404)
    const [removal = ''] = /\/portal\/[^"]+\/keys\/[^"]+\/removal/.exec(page) ?? []
    await admin.post(removal)
    expect(keys((await admin.get(credentials)).text)).toEqual([])
  })
})
