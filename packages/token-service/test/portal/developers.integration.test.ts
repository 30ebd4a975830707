import { describe, expect, it } from 'vitest'
import {
  applicationForm,
  cells,
  idIn,
  invite,
  tokenFor,
  createApplication,
  createProject,
  plainText,
  shown,
  decide,
  logInPath,
  password,
  startPortal,
  withApplication,
  useCheapPasswords,
  type PortalBrowser,
} from './portal-browser.ts'

useCheapPasswords()

describe("another developer's project", () => {
  it('are invited with links that can be withdrawn', async () => {
    const { admin, newBrowser } = await startPortal()
    const link = new URL(await invite(admin, 'Grace, payments')).pathname
    expect((await newBrowser().get(link)).status).toBe(200)
    expect((await admin.post('/portal/invitations', { name: ' ' })).status).toBe(422)
    const listed = (await admin.get('/portal/invitations')).text
    expect(cells(listed, 'name')).toEqual(['Grace, payments'])
    const [withdrawal = ''] = /[^"]+\/withdrawal/.exec(listed) ?? []
    expect((await admin.post(withdrawal)).location).toBe('/portal/invitations')
    expect((await newBrowser().get(link)).status).toBe(410)
    expect((await admin.get('/portal/invitations')).text).toContain('No open invitations')
    expect((await admin.post(withdrawal)).status).toBe(404)
  })

  it.each(['grace', 'ada l0vel4ce', 'ada 1ovel4ce', 'ada love14ce', 'rnarga'])(
    'do not join as %s if somebody has a name that looks like it',
    async (name) => {
      const { admin, developer, newBrowser } = await startPortal()
      for (const taken of ['grace', 'ada lovel4ce', 'marga']) await developer(taken)
      const link = new URL(await invite(admin)).pathname
      const browser = newBrowser()
      await browser.get(link)
      const rejected = await browser.post(link, { name, password })
      expect([rejected.status, plainText(rejected.text)]).toEqual([422, expect.stringMatching(/taken/)])
      expect((await browser.post(link, { name: 'hedy', password })).location).toBe('/portal')
    },
  )

  it('is not accessible by any URL', async () => {
    const { developer, project, application, authUrl, admin } = await withApplication()
    const grace = await developer('grace')
    expect((await grace.get('/portal/projects')).text).toContain('No projects yet')
    const own = await createProject(grace, 'Own')
    const applicationId = application.path.split('/').at(-1) ?? ''
    const secretId = /secrets\/([\w-]+)\/revocation/.exec((await admin.get(application.path)).text)?.[1] ?? ''
    const borrowed = `${own}/applications/${applicationId}`
    for (const path of [
      project,
      `/portal/new-application?project=${idIn(project)}`,
      application.path,
      borrowed,
      `${application.path}/settings`,
    ]) {
      expect((await grace.get(path)).status).toBe(404)
    }
    for (const each of [application.path, borrowed]) {
      for (const [path, form] of [
        ['/approval', { decision: 'revoke' }],
        ['/secrets', { overlap: 'now', submission_id: crypto.randomUUID() }],
        [`/secrets/${secretId}/revocation`, {}],
        ['/settings', applicationForm],
      ] as const) {
        expect((await grace.post(each + path, form)).status).toBe(404)
      }
    }
    expect(
      (
        await grace.post('/portal/new-application', {
          ...applicationForm,
          project: idIn(project),
          submission_id: crypto.randomUUID(),
        })
      ).status,
    ).toBe(422)

    const mine = await createApplication(grace, own)
    const across = await grace.post(`${mine.path}/secrets/${secretId}/revocation`)
    expect(across.status).toBe(303)
    // A form with the ID of another developer's application does not reach it either.
    const { status } = await grace.post('/portal/new-application', {
      ...applicationForm,
      project: idIn(own),
      submission_id: applicationId,
    })
    expect([status, (await grace.get(`${own}/applications/${applicationId}`)).status]).toEqual([200, 404])
    expect((await tokenFor(authUrl, application)).status).toBe(200)
    expect((await admin.get(project)).text).toContain(application.clientId)
  })

  it('has pending applications until the administrator approves them', async () => {
    const { developer, admin, service } = await startPortal()
    const grace = await developer('grace')
    const application = await createApplication(grace, await createProject(grace))
    expect((await tokenFor(service.authUrl, application)).status).toBe(401)
    expect((await decide(grace, application.path, 'approve')).status).toBe(403)
    expect((await grace.get('/portal/developers')).status).toBe(403)
    expect((await grace.get('/portal/invitations')).status).toBe(403)
    expect((await grace.post('/portal/invitations', { name: 'eve' })).status).toBe(403)
    await decide(admin, application.path, 'approve')
    expect((await tokenFor(service.authUrl, application)).status).toBe(200)
    await grace.post(`${application.path}/approval`, { decision: 'revoke' })
    expect((await tokenFor(service.authUrl, application)).status).toBe(401)
  })
})

describe('the audit log', () => {
  it('shows the administrator who did what, from where', async () => {
    const { developer, admin, service } = await startPortal()
    const grace = await developer('grace')
    const project = await createProject(grace)
    const application = await createApplication(grace, project)
    const { clientId, path } = application
    expect((await grace.get('/portal/audit')).status).toBe(403)
    const { text } = await admin.get('/portal/audit')
    const entry = text.split('<li>').find((each) => each.includes('application_created')) ?? ''
    expect(plainText(entry)).toMatch(/^\s*grace registered Transcriber\s+\d+ \w+, \d\d:\d\d\s/)
    for (const part of ['grace', '127.0.0.1']) expect(entry).toContain(`<dd>${part}</dd>`)
    expect(entry).toContain(`<a href="${path}">Transcriber</a>`)
    expect(entry).toContain(`<dd><code>${clientId}</code></dd>`)
    expect(text).toContain(`<a href="${project}">Speech</a>`)
    await tokenFor(service.authUrl, { ...application, clientSecret: 'wrong' })
    // Without a client ID that can be read.
    service.context.activity.count({ event: 'request_rejected', detail: 'invalid_client' })
    const rejections = plainText((await admin.get('/portal/audit?group=rejections')).text)
    expect(rejections).toContain('A request of Transcriber was rejected: Invalid credentials')
    expect(rejections).toContain('A request was rejected: Invalid credentials')
  })
})

describe('a project', () => {
  it('has owners, whom the administrator adds and removes', async () => {
    const { admin, developer } = await startPortal()
    const grace = await developer('grace')
    await createProject(grace, 'Own')
    const project = await createProject(admin, 'Shared')
    const page = async (path = `${project}/owners`) => (await admin.get(path)).text
    const owners = async () =>
      [...(await page()).matchAll(/<li class="bar">\s*<p>([^<]+)</g)].map(([, name]) => name)

    expect(await owners()).toEqual(['ada'])
    expect((await grace.get(project)).status).toBe(404)
    expect((await grace.post(`${project}/owners`, { add: 'grace' })).status).toBe(403)

    // Nobody becomes an owner because their name is similar.
    const similar = await admin.post(`${project}/owners`, { add: 'grac' })
    expect([similar.status, plainText(similar.text)]).toEqual([
      422,
      expect.stringContaining('No person has exactly this name. Similar names: grace.'),
    ])
    expect(similar.text).toMatch(/<datalist[^>]*>\s*<option value="grace">/)
    await admin.post(`${project}/owners`, { add: ' Grace ' })
    expect(await owners()).toEqual(['ada', 'grace'])
    const { status, text } = await grace.get(`${project}/owners`)
    expect(status).toBe(200)
    expect(text).not.toMatch(/Add owner|Remove owner/)

    const [, id = ''] = /name="remove" value="([^"]+)"(?:(?!<\/form)[^])*?grace/.exec(await page()) ?? []
    await admin.post(`${project}/owners`, { remove: id })
    expect(await owners()).toEqual(['ada'])
    expect((await grace.get(project)).status).toBe(404)
  })
})

describe('several administrators', () => {
  it('promote and demote each other, and one always remains', async () => {
    const { admin, developer } = await startPortal()
    const grace = await developer('grace')
    const idOf = async (name: string) => {
      const row = (await admin.get('/portal/developers')).text
        .split('<tr')
        .find((each) => cells(each, 'name')[0]?.startsWith(name))
      return /developers\/([\w-]+)"/.exec(row ?? '')?.[1] ?? ''
    }
    const [ada, her] = [await idOf('ada'), await idOf('grace')]
    expect((await grace.post(`/portal/developers/${her}/role`, { administrator: 'yes' })).status).toBe(403)
    expect((await admin.post(`/portal/developers/${ada}/role`, { administrator: 'no' })).status).toBe(409)
    expect((await admin.post(`/portal/developers/${ada}/removal`)).status).toBe(409)
    const changeRole = async (browser: PortalBrowser, id: string, administrator: string) =>
      (await browser.post(`/portal/developers/${id}/role`, { administrator })).location
    expect(await changeRole(admin, her, 'yes')).toBe('/portal/developers')
    expect((await grace.get('/portal/developers')).status).toBe(200)
    expect(await changeRole(admin, her, 'no')).toBe('/portal/developers')
    await changeRole(admin, her, 'yes')
    // The page of developers is for administrators only.
    expect(await changeRole(admin, ada, 'no')).toBe('/portal/projects')
    expect((await admin.get('/portal/developers')).status).toBe(403)
    expect((await grace.post(`/portal/developers/${her}/removal`)).status).toBe(409)
  })
})

describe('a device that was stolen', () => {
  it('is logged out, and the password and links do not work, until the administrator creates another link', async () => {
    const { admin, developer, newBrowser } = await startPortal()
    const stolen = await developer('grace')
    await createProject(stolen, 'Only hers')
    const shared = await createProject(stolen, 'Shared')
    await admin.post(`${shared}/owners`, { add: 'ada' })
    const [, path = ''] = /href="(\/portal\/developers\/[\w-]+)"[^>]*>grace</.exec(
      (await admin.get('/portal/developers')).text,
    )!
    const page = (await admin.get(path)).text
    expect(plainText(page).replaceAll(/\s+/g, ' ')).toContain(
      'Nobody else owns Only hers: only administrators will have access.',
    )
    const before = shown((await admin.post(`${path}/password-link`)).text, 'link')
    expect((await admin.post(`${path}/block`)).location).toBe(path)
    expect((await stolen.get('/portal/projects')).location).toBe(logInPath)
    const thief = newBrowser()
    await thief.get('/portal/log-in')
    expect((await thief.post('/portal/log-in', { name: 'grace', password })).status).toBe(422)
    expect((await thief.get(new URL(before).pathname)).status).toBe(410)

    await admin.get(path)
    const after = new URL(shown((await admin.post(`${path}/password-link`)).text, 'link')).pathname
    const grace = newBrowser()
    await grace.get(after)
    await grace.post(after, { password: `another ${password}` })
    expect((await grace.get('/portal/projects')).text).toContain('Only hers')
    expect((await admin.get('/portal/audit?q=grace&group=people')).text).toContain(
      'blocked the password of grace',
    )
  })

  it('of the last administrator is not blocked', async () => {
    const { admin, developer } = await startPortal()
    const [, path = ''] = /href="(\/portal\/developers\/[\w-]+)"[^>]*>ada</.exec(
      (await admin.get('/portal/developers')).text,
    )!
    const { status, text } = await admin.post(`${path}/block`)
    expect([status, text]).toEqual([409, expect.stringContaining('This is the last administrator')])
    expect((await admin.get('/portal/projects')).status).toBe(200)
    const grace = await developer('grace')
    await grace.get('/portal/projects')
    expect((await grace.post(`${path}/block`)).status).toBe(403)
  })
})

describe('the filter of the audit log', () => {
  it('selects entries by event, person and day, on the page and in the export', async () => {
    // So that it is not midnight meanwhile.
    const { developer, admin } = await startPortal({ clock: { now: () => Date.UTC(2026, 0, 31, 12) } })
    const grace = await developer('grace')
    await createProject(grace)
    await createProject(admin, 'Other')
    const exported = async (query: string) => {
      const { text, headers } = await admin.get(`/portal/audit/export?${query}`)
      expect(headers.get('content-disposition')).toContain('audit.jsonl')
      return text
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line))
    }
    expect(await exported('group=created')).toHaveLength(2)
    expect(await exported('group=created&q=Grac')).toMatchObject([{ actor: 'grace' }])
    expect((await exported('since=2026-01-31&until=2026-01-31')).length).toBeGreaterThan(2)
    expect(await exported('until=2020-01-01')).toEqual([])
    expect((await admin.get('/portal/audit?until=2020-01-01')).text).toContain('No entries')
    expect((await admin.get('/portal/audit?since=nonsense')).text).toContain('project_created')
    expect((await grace.get('/portal/audit/export')).status).toBe(403)
  })
})

describe('a developer who is removed', () => {
  it('is logged out at once, and the projects are kept', async () => {
    const { admin, developer, service } = await startPortal()
    const [grace, eve] = [await developer('grace'), await developer('eve')]
    const project = await createProject(grace, 'Project of Grace')
    const { text } = await admin.get('/portal/developers')
    expect(cells(text, 'name')).toEqual(['adaYou', 'eve', 'grace'])
    const [, , person = ''] = [...text.matchAll(/href="([^"]+\/developers\/[\w-]+)"/g)].map(
      ([, each]) => each ?? '',
    )
    const page = await admin.get(person)
    expect(cells(page.text, 'name')).toEqual([expect.stringContaining('Project of Grace')])
    expect((await eve.get(person)).status).toBe(403)
    expect((await admin.get('/portal/developers/nobody')).status).toBe(404)
    const path = `${person}/removal`
    expect((await eve.post(path)).status).toBe(403)
    expect((await admin.post('/portal/developers/nobody/removal')).status).toBe(404)
    expect((await admin.post(path)).location).toBe('/portal/developers')
    expect((await grace.get('/portal/projects')).location).toBe(logInPath)
    await grace.get('/portal/log-in')
    expect((await grace.post('/portal/log-in', { name: 'grace', password })).status).toBe(422)
    expect((await eve.get('/portal/projects')).status).toBe(200)
    expect((await admin.get(project)).status).toBe(200)
    expect(await service.createSetupLink()).toBeUndefined()
  })
})
