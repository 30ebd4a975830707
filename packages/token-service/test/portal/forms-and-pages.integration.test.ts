import { describe, expect, it } from 'vitest'
import {
  applicationForm,
  tokenFor,
  createApplication,
  createProject,
  password,
  plainText,
  startPortal,
  withApplication,
  useCheapPasswords,
} from './portal-browser.ts'

useCheapPasswords()

const canary = `"><script>alert('x')</script>&amp;'\``

describe('every form', () => {
  it('shows no error before it is sent', async () => {
    const { admin, newBrowser } = await startPortal()
    const pages = [
      await newBrowser().get('/portal/log-in'),
      await admin.get('/portal/new-project'),
      await admin.get('/portal/account'),
    ]
    for (const { status, text } of pages) {
      expect(status).toBe(200)
      expect(text).not.toMatch(/"error"|aria-invalid|role="alert"/)
    }
  })

  const paths = (project: string, application: string) => [
    '/portal/log-in',
    '/portal/log-out',
    '/portal/join/x',
    '/portal/account',
    '/portal/developers/x/password-link',
    '/portal/invitations',
    '/portal/account/sessions',
    '/portal/developers/x/removal',
    '/portal/developers/x/role',
    '/portal/products',
    '/portal/resource-servers',
    '/portal/resource-servers/x',
    '/portal/resource-servers/x/removal',
    '/portal/resource-servers/x/keys',
    '/portal/resource-servers/x/keys/x/removal',
    '/portal/resource-servers/x/secrets',
    '/portal/resource-servers/x/secrets/x/revocation',
    '/portal/new-project',
    '/portal/new-application',
    `${project}/settings`,
    `${project}/deletion`,
    `${project}/owners`,
    `${application}/settings`,
    `${application}/approval`,
    `${application}/secrets`,
    `${application}/secrets/x/revocation`,
    `${application}/project`,
    `${application}/deletion`,
    `${application}/keys`,
    `${application}/keys/x/removal`,
  ]

  it('is rejected without the CSRF token of its session, and changes nothing', async () => {
    const { admin, developer, authUrl, project, application } = await withApplication()
    const other = await developer('grace')
    const before = [(await admin.get(application.path)).text, (await admin.get('/portal/projects')).text]
    const form = {
      ...applicationForm,
      name: 'changed',
      decision: 'revoke',
      overlap: 'now',
      submission_id: crypto.randomUUID(),
    }
    for (const path of paths(project, application.path)) {
      for (const token of [undefined, '', 'x', other.csrfToken, `${admin.csrfToken}=`]) {
        const body = new URLSearchParams({ ...form, ...(token !== undefined && { csrf_token: token }) })
        const { status, text } = await admin.send(path, { method: 'POST', body })
        expect([path, status]).toEqual([path, 403])
        expect(text).toContain('This form has expired')
      }
    }
    const csrfToken = admin.csrfToken
    const withoutCookie = await fetch(`${authUrl}${application.path}/approval`, {
      method: 'POST',
      body: new URLSearchParams({ csrf_token: csrfToken, decision: 'revoke' }),
    })
    expect(withoutCookie.status).toBe(403)
    const changing = /name="(submission_id|csrf_token)" value="[^"]+"/g
    const after = [(await admin.get(application.path)).text, (await admin.get('/portal/projects')).text]
    expect(after.map((text) => text.replace(changing, ''))).toEqual(
      before.map((text) => text.replace(changing, '')),
    )
    expect((await tokenFor(authUrl, application)).status).toBe(200)
  })

  it('is rejected if its type, size or fields are wrong', async () => {
    const { admin } = await startPortal()
    const json = { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } }
    expect((await admin.send('/portal/new-project', json)).status).toBe(400)
    expect((await admin.send('/portal/new-project', { method: 'POST' })).status).toBe(403)
    expect((await admin.post('/portal/new-project', { name: 'x'.repeat(70_000) })).status).toBe(400)
    const body = `csrf_token=${admin.csrfToken}&name=a&name=b`
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    expect((await admin.send('/portal/new-project', { method: 'POST', body, headers })).status).toBe(400)
  })

  it('redirects to the login page without a session', async () => {
    const { newBrowser, project, application } = await withApplication()
    const browser = newBrowser()
    await browser.get('/portal/log-in')
    const open = ['/portal/log-in', '/portal/log-out', '/portal/join/x']
    for (const path of paths(project, application.path).filter((each) => !open.includes(each))) {
      expect((await browser.post(path)).location).toBe('/portal/log-in')
    }
    const pages = [
      '/portal',
      project,
      application.path,
      `${application.path}?range=7d`,
      '/portal/audit?event=a%20b',
    ]
    for (const path of pages) {
      const next = new URLSearchParams({ next: path })
      expect((await browser.get(path)).location).toBe(`/portal/log-in?${next}`)
    }
  })

  it('continues after the login, but only in the portal', async () => {
    const { newBrowser, project } = await withApplication()
    const continuesTo = async (next: string) => {
      const browser = newBrowser()
      await browser.get(`/portal/log-in?${new URLSearchParams({ next })}`)
      return (await browser.post('/portal/log-in', { name: 'ada', password, next })).location
    }
    for (const path of [project, '/portal/audit?event=a%20b&actor=ada', '/portal/resource-servers/a%2Fb'])
      expect(await continuesTo(path)).toBe(path)
    for (const next of [
      '//example.com',
      'https://example.com/portal',
      '/\\example.com',
      '/portal@example.com',
      '/portal/../x',
      '/portal//example.com',
    ])
      expect(await continuesTo(next)).toBe('/portal')
  })
})

describe('every page', () => {
  it('escapes all input', async () => {
    const { admin } = await startPortal()
    const project = await createProject(admin, canary)
    const { path } = await createApplication(admin, project, {
      name: canary,
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

  it('has a strict content security policy', async () => {
    const { admin } = await startPortal()
    for (const path of [
      '/portal/log-in',
      '/portal/projects',
      '/portal/nowhere',
      '/portal/assets/portal.css',
    ]) {
      const { headers } = await admin.get(path === '/portal/log-in' ? '/portal/account' : path)
      const policy = headers.get('content-security-policy') ?? ''
      expect(policy).toMatch(/^default-src 'none'; /)
      expect(policy).not.toMatch(/unsafe|\*|(?<!img-src 'self' )data:/)
      expect(policy).toContain("frame-ancestors 'none'")
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('referrer-policy')).toBe('no-referrer')
    }
    expect((await admin.get('/portal/projects')).headers.get('cache-control')).toBe('no-store')
    const { text } = await admin.get('/portal/projects')
    expect(text).not.toMatch(/<style|\sstyle=|\son\w+=|<script(?! src="\/portal\/assets\/)/)
  })

  it('links to static files, and only those are served', async () => {
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

describe('the menu', () => {
  it('marks the entry that a page belongs to', async () => {
    const { admin, authUrl, application } = await withApplication()
    // Without a first token, the portal begins with the steps to it.
    await tokenFor(authUrl, application)
    const marked = async (path: string) => {
      const { text } = await admin.get(path)
      const [, label] = /<a href="[^"]*" aria-current="(?:page|true)"\s*>([^<]+)/.exec(text) ?? []
      return label
    }
    const pages = {
      '/portal': 'Overview',
      '/portal/': 'Overview',
      '/portal/new-project': undefined,
      '/portal/projects': 'Projects',
      [application.path.replace(/\/applications\/.*/, '')]: 'Projects',
      [application.path]: 'Applications',
      [`${application.path}/keys`]: 'Applications',
      '/portal/audit': 'Audit log',
    }
    const found = await Promise.all(Object.keys(pages).map(async (path) => [path, await marked(path)]))
    expect(Object.fromEntries(found)).toEqual(pages)
  })
})

describe('the audit log', () => {
  it('says that somebody was invited, with the name if there is one', async () => {
    const { admin, developer } = await startPortal()
    await developer('grace')
    const text = plainText((await admin.get('/portal/audit')).text)
    expect(text).toContain('ada invited a developer: grace')
    expect(text).toContain('The service invited a developer')
    expect(text).not.toContain('The service invited a developer:')
  })
})

describe('the first-run page', () => {
  it('shows administrators the steps in their own projects', async () => {
    const { admin, developer } = await startPortal()
    const grace = await developer('grace')
    await createApplication(grace, await createProject(grace, 'Billing'))
    expect((await admin.get('/portal/get-started')).text).toContain('Three steps to your first access token')
    await createProject(admin, 'Speech')
    const { text } = await admin.get('/portal/get-started')
    expect([text.includes('Speech'), text.includes('Billing')]).toEqual([true, false])
  })
})
