import { describe, expect, it } from 'vitest'
import { introspect, requestToken, resourceServer } from '../test-service.ts'
import {
  applicationForm,
  createApplication,
  createProject,
  password,
  shown,
  startPortal,
  type CreatedApplication,
} from './portal-visitor.ts'

const canary = `"><script>alert('x')</script>&amp;'\``

function ask(authUrl: string, { clientId, clientSecret }: CreatedApplication) {
  return requestToken(authUrl, { clientId, clientSecret } as never)
}

async function withApplication(form: Readonly<Record<string, string>> = {}) {
  const time = { now: Date.UTC(2026, 0, 31, 12) }
  const portal = await startPortal({ clock: { now: () => time.now }, resourceServers: [resourceServer] })
  const project = await createProject(portal.admin)
  const application = await createApplication(portal.admin, project, form)
  return { ...portal, authUrl: portal.service.authUrl, time, project, application }
}

describe('every form', () => {
  const paths = (project: string, application: string) => [
    '/portal/log-in',
    '/portal/log-out',
    '/portal/join/x',
    '/portal/account',
    '/portal/developers',
    '/portal/developers/x/removal',
    '/portal/new-project',
    `${project}/new-application`,
    `${application}/settings`,
    `${application}/status`,
    `${application}/secrets`,
    `${application}/secrets/x/revocation`,
  ]

  it(
    'is refused without the token of this very visit, and changes nothing',
    { timeout: 60_000 },
    async () => {
      const { admin, developer, authUrl, project, application } = await withApplication()
      const other = await developer('grace')
      const before = [(await admin.get(application.path)).text, (await admin.get('/portal/projects')).text]
      const form = {
        ...applicationForm,
        name: 'changed',
        status: 'revoked',
        overlap: 'now',
        once: crypto.randomUUID(),
      }
      for (const path of paths(project, application.path)) {
        for (const token of [undefined, '', 'x', other.formToken, `${admin.formToken}=`, admin.cookie]) {
          const body = new URLSearchParams({ ...form, ...(token !== undefined && { form_token: token }) })
          const { status, text } = await admin.send(path, { method: 'POST', body })
          expect([path, status]).toEqual([path, 403])
          expect(text).toContain('out of date')
        }
      }
      const withOurToken = admin.formToken
      const stranger = await fetch(`${authUrl}${application.path}/status`, {
        method: 'POST',
        body: new URLSearchParams({ form_token: withOurToken, status: 'revoked' }),
      })
      expect(stranger.status).toBe(403)
      const once = /name="once" value="[^"]+"/
      const after = [(await admin.get(application.path)).text, (await admin.get('/portal/projects')).text]
      expect(after.map((text) => text.replace(once, ''))).toEqual(
        before.map((text) => text.replace(once, '')),
      )
      expect((await ask(authUrl, application)).status).toBe(200)
    },
  )

  it('is a form, and of a size', async () => {
    const { admin } = await startPortal()
    const json = { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } }
    expect((await admin.send('/portal/new-project', json)).status).toBe(400)
    expect((await admin.send('/portal/new-project', { method: 'POST' })).status).toBe(403)
    expect((await admin.post('/portal/new-project', { name: 'x'.repeat(20_000) })).status).toBe(400)
    const body = `form_token=${admin.formToken}&name=a&name=b`
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    expect((await admin.send('/portal/new-project', { method: 'POST', body, headers })).status).toBe(400)
  })

  it('asks who is not logged in to do so', async () => {
    const { stranger, project, application } = await withApplication()
    const visitor = stranger()
    await visitor.get('/portal/log-in')
    const open = ['/portal/log-in', '/portal/log-out', '/portal/join/x']
    for (const path of paths(project, application.path).filter((each) => !open.includes(each))) {
      expect((await visitor.post(path)).location).toBe('/portal/log-in')
    }
    for (const path of ['/portal', '/portal/projects', project, application.path, '/portal/developers']) {
      expect((await visitor.get(path)).location).toBe('/portal/log-in')
    }
  })
})

describe('every page', () => {
  it('shows whatever is typed as text', async () => {
    const { admin } = await startPortal()
    const project = await createProject(admin, canary)
    const { path } = await createApplication(admin, project, {
      name: canary,
      products: canary.replace(/,/g, ''),
      level: canary,
    })
    const bad = { name: `${canary}\n`, organization_name: canary, developer_email: canary }
    const pages = [
      await admin.get('/portal/projects'),
      await admin.get(project),
      await admin.get(path),
      await admin.get(`${path}/settings`),
      await admin.post('/portal/new-project', bad),
      await admin.post('/portal/log-in', { name: canary, password: canary }),
      await admin.get(`/portal/${encodeURIComponent(canary)}`),
      await admin.get(`/portal/projects/${encodeURIComponent(canary)}`),
    ]
    expect(pages.filter(({ text }) => text.includes('&lt;script&gt;'))).toHaveLength(6)
    for (const { text } of pages) {
      expect(text).not.toContain('<script>')
      expect(text).not.toMatch(/value="">|alert\('x'\)/)
    }
  })

  it('forbids the browser everything it does not need', async () => {
    const { admin } = await startPortal()
    for (const path of [
      '/portal/log-in',
      '/portal/projects',
      '/portal/nowhere',
      '/reference',
      '/portal/assets/portal.css',
    ]) {
      const { headers } = await admin.get(path === '/portal/log-in' ? '/portal/account' : path)
      const policy = headers.get('content-security-policy') ?? ''
      expect(policy).toMatch(/^default-src 'none'; /)
      expect(policy).not.toMatch(/unsafe|\*|data:/)
      expect(policy).toContain("frame-ancestors 'none'")
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('referrer-policy')).toBe('no-referrer')
    }
    expect((await admin.get('/portal/projects')).headers.get('cache-control')).toBe('no-store')
    const { text } = await admin.get('/portal/projects')
    expect(text).not.toMatch(/<style|\sstyle=|\son\w+=|<script(?! src="\/portal\/assets\/)/)
  })

  it('serves its own files and no others', async () => {
    const { admin } = await startPortal()
    const { text } = await admin.get('/portal/projects')
    const files = [...text.matchAll(/(?:src|href)="(\/portal\/assets\/[^"]+)"/g)].map(
      ([, path]) => path ?? '',
    )
    expect(files.length).toBeGreaterThan(2)
    for (const path of files)
      expect((await admin.get(path)).headers.get('cache-control')).toContain('immutable')
    for (const name of [
      'nothing.css',
      '..%2fportal.ts',
      '%2e%2e%2f%2e%2e%2fpackage.json',
      'constructor',
      '__proto__',
    ]) {
      expect((await admin.get(`/portal/assets/${name}`)).status).toBe(404)
    }
  })
})

describe("another developer's project", () => {
  it('is not there, by whatever address', { timeout: 60_000 }, async () => {
    const { developer, project, application, authUrl, admin } = await withApplication()
    const grace = await developer('grace')
    expect((await grace.get('/portal/projects')).text).toContain('no project yet')
    const own = await createProject(grace, 'Own')
    const applicationId = application.path.split('/').at(-1) ?? ''
    const secretId = /secrets\/([\w-]+)\/revocation/.exec((await admin.get(application.path)).text)?.[1] ?? ''
    const borrowed = `${own}/applications/${applicationId}`
    for (const path of [
      project,
      `${project}/new-application`,
      application.path,
      borrowed,
      `${application.path}/settings`,
    ]) {
      expect((await grace.get(path)).status).toBe(404)
    }
    for (const each of [application.path, borrowed]) {
      for (const [path, form] of [
        ['/status', { status: 'revoked' }],
        ['/secrets', { overlap: 'now', once: crypto.randomUUID() }],
        [`/secrets/${secretId}/revocation`, {}],
        ['/settings', applicationForm],
      ] as const) {
        expect((await grace.post(each + path, form)).status).toBe(404)
      }
    }
    expect(
      (await grace.post(`${project}/new-application`, { ...applicationForm, once: crypto.randomUUID() }))
        .status,
    ).toBe(404)

    const mine = await createApplication(grace, own)
    const across = await grace.post(`${mine.path}/secrets/${secretId}/revocation`)
    expect(across.status).toBe(303)
    // Nor does a form that carries the id of somebody's application get at it.
    const { location } = await grace.post(`${own}/new-application`, {
      ...applicationForm,
      once: applicationId,
    })
    expect((await grace.get(location ?? '')).status).toBe(404)
    expect((await ask(authUrl, application)).status).toBe(200)
    expect((await admin.get(project)).text).toContain(application.clientId)
  })

  it('waits for the administrator to approve its applications', { timeout: 60_000 }, async () => {
    const { developer, admin, service } = await startPortal()
    const grace = await developer('grace')
    const application = await createApplication(grace, await createProject(grace))
    expect((await ask(service.authUrl, application)).status).toBe(401)
    expect((await grace.post(`${application.path}/status`, { status: 'approved' })).status).toBe(403)
    expect((await grace.get('/portal/developers')).status).toBe(403)
    expect((await grace.post('/portal/developers')).status).toBe(403)
    await admin.post(`${application.path}/status`, { status: 'approved' })
    expect((await ask(service.authUrl, application)).status).toBe(200)
    await grace.post(`${application.path}/status`, { status: 'revoked' })
    expect((await ask(service.authUrl, application)).status).toBe(401)
  })
})

describe('a developer who is removed', () => {
  it('is out at once, and the projects stay with the administrator', { timeout: 60_000 }, async () => {
    const { admin, developer, service } = await startPortal()
    const [grace, eve] = [await developer('grace'), await developer('eve')]
    const project = await createProject(grace, 'Of Grace')
    const { text } = await admin.get('/portal/developers')
    const [path = '', ...others] = [...text.matchAll(/action="([^"]+\/removal)"/g)].map(
      ([, each]) => each ?? '',
    )
    expect(others).toHaveLength(1)
    expect((await eve.post(path)).status).toBe(403)
    expect((await admin.post('/portal/developers/nobody/removal')).status).toBe(404)
    expect((await admin.post(path)).location).toBe('/portal/developers')
    expect((await grace.get('/portal/projects')).location).toBe('/portal/log-in')
    await grace.get('/portal/log-in')
    expect((await grace.post('/portal/log-in', { name: 'grace', password })).status).toBe(422)
    expect((await eve.get('/portal/projects')).status).toBe(200)
    expect((await admin.get(project)).status).toBe(200)
    expect(await service.createSetupLink()).toBeUndefined()
  })
})

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
