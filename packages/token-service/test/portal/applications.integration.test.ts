import { describe, expect, it } from 'vitest'
import { introspect } from '../test-service.ts'
import {
  applicationForm,
  ask,
  createProject,
  password,
  shown,
  startPortal,
  withApplication,
} from './portal-visitor.ts'

describe('an application', () => {
  it('is what the form said, and its secret is shown once', async () => {
    const { admin, authUrl, application } = await withApplication({
      products: ' speech-to-text , sms,,sms',
      response_form: 'products',
      lifetime_seconds: '90',
    })
    const { body } = await ask(authUrl, application)
    expect(body).toMatchObject({
      application_name: 'Transcriber',
      api_product_list_json: ['speech-to-text', 'sms'],
      expires_in: '90',
      organization_name: 'Example',
      developer_email: 'ada@example.com',
    })
    for (const path of ['/portal/projects', application.path]) {
      const { text } = await admin.get(path)
      expect(text).toContain(`${application.clientSecret.slice(0, 4)}…`)
      expect(text).not.toContain(application.clientSecret)
    }
  })

  it('is made once by a form that is sent twice', async () => {
    const { admin, project } = await withApplication()
    const form = { ...applicationForm, name: 'Twice', once: crypto.randomUUID() }
    const answers = await Promise.all([1, 2, 3].map(() => admin.post(`${project}/new-application`, form)))
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 303, 303])
    expect((await admin.get(project)).text.match(/>Twice</g)).toHaveLength(1)
    expect((await admin.post(`${project}/new-application`, { ...form, once: 'x' })).status).toBe(400)
  })

  it('changes by its settings', async () => {
    const { admin, authUrl, application } = await withApplication()
    const form = { ...applicationForm, response_form: 'refresh', level: 'silver', lifetime_seconds: ' 60 ' }
    expect((await admin.post(`${application.path}/settings`, form)).location).toBe(application.path)
    expect((await ask(authUrl, application)).body).toMatchObject({
      level: 'silver',
      expires_in: '60',
      refresh_token: '',
    })
  })

  it.each([
    [{ name: ' ' }, 'Fill this in'],
    [{ name: 'a\0b' }, 'control characters'],
    [{ products: 'a[b]' }, 'without brackets'],
    [{ products: 'a\0' }, 'without brackets'],
    [{ level: 'x'.repeat(201) }, 'At most 200'],
    [{ response_form: 'other' }, 'Invalid'],
    [{ lifetime_seconds: '0' }, 'At least one second'],
    [{ lifetime_seconds: '1e3' }, 'whole number'],
    [{ lifetime_seconds: '31536001' }, 'a year'],
  ])('is not made of %j', async (form, message) => {
    const { admin } = await startPortal()
    const project = await createProject(admin)
    const once = crypto.randomUUID()
    const { status, text } = await admin.post(`${project}/new-application`, {
      ...applicationForm,
      once,
      ...form,
    })
    expect([status, text]).toEqual([422, expect.stringContaining(message)])
    expect(text).toContain(`value="${once}"`)
    expect((await admin.get(project)).text).toContain('No application yet')
  })

  it('gets no tokens while it is revoked, nor are those it has any good', async () => {
    const { admin, authUrl, application } = await withApplication()
    const { access_token: token } = (await ask(authUrl, application)).body
    await admin.post(`${application.path}/status`, { status: 'revoked' })
    expect((await ask(authUrl, application)).status).toBe(401)
    expect((await introspect(authUrl, token)).body).toEqual({ active: false })
    await admin.post(`${application.path}/status`, { status: 'approved' })
    expect((await introspect(authUrl, token)).body).toMatchObject({ active: true })
    expect((await admin.post(`${application.path}/status`, { status: 'pending' })).status).toBe(400)
  })

  it('shows how many tokens it got, day by day', async () => {
    const { admin, authUrl, application, time } = await withApplication()
    expect((await admin.get(application.path)).text).toContain('None in the last 30 days')
    time.now += 11 * 3_600_000
    await ask(authUrl, application)
    expect((await admin.get(application.path)).text).toContain(
      '1 in the last 30 days; the most, 1, on 31 Jan.',
    )
    time.now += 3_600_000 - 1
    for (let each = 0; each < 3; each += 1) await ask(authUrl, application)
    await admin.get(application.path)
    time.now += 1
    for (let each = 0; each < 5; each += 1) await ask(authUrl, application)
    await admin.get('/portal/log-in')
    await admin.post('/portal/log-in', { name: 'ada', password })
    const { text: chart } = await admin.get(application.path)
    expect(chart).toContain('9 in the last 30 days; the most, 5, on 1 Feb.')
    expect(chart.match(/<rect/g)).toHaveLength(30)
    expect(chart).toMatch(/<title>31 Jan: 4<\/title>/)
  })
})

describe('rotating a secret', () => {
  const rotate = async (portal: Awaited<ReturnType<typeof withApplication>>, overlap: string) => {
    const { admin, application } = portal
    const { text } = await admin.post(`${application.path}/secrets`, { overlap, once: crypto.randomUUID() })
    return { ...application, clientSecret: shown(text, 'client-secret') }
  }

  it.each([
    ['now', 0],
    ['hour', 3_600],
    ['day', 86_400],
    ['month', 30 * 86_400],
  ])('lets the older one be good until it ends: %s', async (overlap, seconds) => {
    const portal = await withApplication()
    const { authUrl, application, time } = portal
    const second = await rotate(portal, overlap)
    expect(second.clientSecret).toMatch(/^[\w-]{43}$/)
    time.now += seconds * 1000 - 1
    expect((await ask(authUrl, application)).status).toBe(200)
    time.now += 1
    expect((await ask(authUrl, application)).status).toBe(401)
    expect((await ask(authUrl, second)).status).toBe(200)
  })

  it('lets the older one be good until it is revoked, and the new one after that', async () => {
    const portal = await withApplication()
    const { admin, authUrl, application, time } = portal
    const second = await rotate(portal, 'never')
    time.now += 3_600_000
    for (const each of [application, second]) expect((await ask(authUrl, each)).status).toBe(200)
    const { text } = await admin.get(application.path)
    const [oldest] = [...text.matchAll(/secrets\/([\w-]+)\/revocation/g)].map(([, id]) => id)
    expect((await admin.post(`${application.path}/secrets/${oldest}/revocation`)).location).toBe(
      application.path,
    )
    expect((await ask(authUrl, application)).status).toBe(401)
    expect((await ask(authUrl, second)).status).toBe(200)
    expect((await admin.post(`${application.path}/secrets/${oldest}/revocation`)).status).toBe(303)
  })

  it('happens once by a form that is sent twice, and not for ever', async () => {
    const portal = await withApplication()
    const { admin, application } = portal
    const form = { overlap: 'never', once: crypto.randomUUID() }
    expect((await admin.post(`${application.path}/secrets`, form)).status).toBe(200)
    expect((await admin.post(`${application.path}/secrets`, form)).location).toBe(application.path)
    expect((await admin.post(`${application.path}/secrets`, { ...form, overlap: 'forever' })).status).toBe(
      400,
    )
    for (let secret = 2; secret < 10; secret += 1) await rotate(portal, 'never')
    const answer = await admin.post(`${application.path}/secrets`, { ...form, once: crypto.randomUUID() })
    expect([answer.status, answer.text]).toEqual([409, expect.stringContaining('Too many secrets')])
  })
})
