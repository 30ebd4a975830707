import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { introspect, resourceServer } from '../test-service.ts'
import {
  applicationForm,
  cells,
  createApplication,
  createProject,
  decide,
  invite,
  startPortal,
  tokenFor,
  useCheapPasswords,
  type PortalBrowser,
} from './portal-browser.ts'

useCheapPasswords()

const idIn = (path: string) => path.split('/').at(-1) ?? ''

/** Grace owns a project with an application that the administrator has approved. */
async function withApproved() {
  const portal = await startPortal({ resourceServers: [resourceServer] })
  const { admin, service, developer } = portal
  const grace = await developer('grace')
  const project = await createProject(grace, 'Own')
  const application = await createApplication(grace, project)
  await decide(admin, application.path, 'approve')
  const { authUrl } = service
  const status = async (of = application) => (await tokenFor(authUrl, of)).status
  expect(await status()).toBe(200)
  return { ...portal, grace, project, application, authUrl, status }
}

const remove = async (browser: PortalBrowser, path: string) =>
  (await browser.post(`${path}/deletion`, { decision: 'delete' })).status
const restore = async (browser: PortalBrowser, path: string) =>
  (await browser.post(`${path}/deletion`, { decision: 'restore' })).status

describe('an application that an administrator deleted', () => {
  it('is not restored by its owner, who could delete it once more', async () => {
    const { admin, grace, application, status } = await withApproved()
    await remove(admin, application.path)
    const { text } = await grace.get(application.path)
    expect(text).toContain('An administrator deleted the application')
    expect(text).not.toContain('Restore application')
    expect(await restore(grace, application.path)).toBe(403)
    expect(await remove(grace, application.path)).toBe(403)
    expect(await restore(grace, application.path)).toBe(403)
    expect((await grace.get(application.path)).text).toContain('An administrator deleted the application')
    expect(await status()).toBe(401)
  })

  it('is restored by an administrator, without its approval, secrets, keys and tokens', async () => {
    const { admin, grace, application, authUrl, status } = await withApproved()
    const key = generateKeyPairSync('ec', { namedCurve: 'P-256' })
      .publicKey.export({ type: 'spki', format: 'pem' })
      .toString()
    await grace.post(`${application.path}/keys`, { key })
    const { access_token: token } = (await tokenFor(authUrl, application)).body
    await remove(admin, application.path)
    expect((await admin.get(application.path)).text).toContain('Restore application')
    expect(await restore(admin, application.path)).toBe(303)
    expect((await grace.get(application.path)).text).toContain('until an administrator approves it')
    await decide(admin, application.path, 'approve')
    expect(await status()).toBe(401)
    expect((await introspect(authUrl, token)).body).toEqual({ active: false })
    const credentials = (await grace.get(`${application.path}/credentials`)).text
    expect(credentials).not.toMatch(/\/revocation|Public key</)
    const entries = (await admin.get(`/portal/audit/export?q=${application.clientId}`)).text
    for (const event of ['application_deleted', 'secret_revoked', 'key_removed', 'application_restored'])
      expect(entries).toContain(`"event":"${event}"`)
  })

  it('cannot be changed, moved or given a secret meanwhile', async () => {
    const { admin, grace, application, status } = await withApproved()
    const other = await createProject(grace, 'Other')
    await remove(admin, application.path)
    const changes = [
      ['project', { project: idIn(other) }, 409],
      ['secrets', { overlap: 'never', submission_id: crypto.randomUUID() }, 409],
      ['keys', { key: 'https://keys.example.com/jwks.json' }, 422],
      ['settings', applicationForm, 409],
    ] as const
    for (const [path, form, expected] of changes)
      expect([path, (await grace.post(`${application.path}/${path}`, form)).status]).toEqual([path, expected])
    expect((await grace.get(`${other}/applications/${idIn(application.path)}`)).status).toBe(404)
    expect(await status()).toBe(401)
  })

  it('stays deleted if its owner had deleted it first', async () => {
    const { admin, grace, application, status } = await withApproved()
    await remove(grace, application.path)
    await remove(admin, application.path)
    expect(await restore(grace, application.path)).toBe(403)
    await restore(admin, application.path)
    expect(await status()).toBe(401)
  })
})

describe('a project that an administrator deleted', () => {
  it('is not restored by its owner', async () => {
    const { admin, grace, project, application, status } = await withApproved()
    await remove(admin, project)
    expect((await grace.get(project)).text).toContain('An administrator deleted the project')
    expect(await restore(grace, project)).toBe(403)
    expect(await remove(grace, project)).toBe(403)
    expect(await restore(grace, project)).toBe(403)
    // Not by taking the application out of it, either.
    const other = await createProject(grace, 'Other')
    expect((await grace.post(`${application.path}/project`, { project: idIn(other) })).status).toBe(409)
    expect(await remove(grace, application.path)).toBe(403)
    const renamed = { name: 'Other name', organization_name: '', developer_email: '' }
    expect((await grace.post(`${project}/settings`, renamed)).status).toBe(409)
    expect(await status()).toBe(401)
  })

  it('is restored by an administrator, with applications that are approved anew', async () => {
    const { admin, grace, project, application, authUrl, status } = await withApproved()
    await remove(admin, project)
    await restore(admin, project)
    expect(await status()).toBe(401)
    await decide(admin, application.path, 'approve')
    expect(await status()).toBe(401)
    await grace.get(`${application.path}/credentials`)
    const another = await createApplication(grace, project, { name: 'Another' })
    await decide(admin, another.path, 'approve')
    expect((await tokenFor(authUrl, another)).status).toBe(200)
  })
})

describe('what its owner deleted', () => {
  it('is restored by the owner as it was', async () => {
    const { grace, project, application, status } = await withApproved()
    for (const path of [application.path, project]) {
      await remove(grace, path)
      expect(await status()).toBe(401)
      expect(await restore(grace, path)).toBe(303)
      expect(await status()).toBe(200)
    }
  })

  it('is restored as it was by an administrator who is the owner, and by no other owner', async () => {
    const { admin, developer, service } = await startPortal()
    const grace = await developer('grace')
    const project = await createProject(admin, 'Shared')
    const application = await createApplication(admin, project)
    await admin.get(project)
    await admin.post(`${project}/owners`, { add: 'grace' })
    for (const path of [application.path, project]) {
      await remove(admin, path)
      expect(await restore(grace, path)).toBe(403)
      expect(await restore(admin, path)).toBe(303)
      expect((await tokenFor(service.authUrl, application)).status).toBe(200)
    }
  })
})

describe('an approved application', () => {
  it('is moved to other owners by an administrator only', async () => {
    const { admin, developer, grace, project, application, status } = await withApproved()
    await developer('eve')
    const shared = await createProject(grace, 'Shared')
    await admin.get(shared)
    await admin.post(`${shared}/owners`, { add: 'eve' })
    const own = await createProject(grace, 'Second')

    const { status: rejected, text } = await grace.post(`${application.path}/project`, {
      project: idIn(shared),
    })
    expect([rejected, text]).toEqual([403, expect.stringContaining('other owners')])
    const moved = await grace.post(`${application.path}/project`, { project: idIn(own) })
    expect(moved.location).toContain(own)
    const back = await grace.post(`${moved.location}/project`, { project: idIn(project) })
    expect(back.location).toBe(application.path)
    expect((await admin.post(`${application.path}/project`, { project: idIn(shared) })).status).toBe(303)
    expect(await status()).toBe(200)
  })
})

describe('an administrator who is demoted or removed', () => {
  it.each(['role', 'removal'])('leaves no links that still work: %s', async (change) => {
    const { admin, developer, newBrowser } = await startPortal()
    const mallory = await developer('mallory')
    const idOf = async (name: string) => {
      const row = (await admin.get('/portal/developers')).text
        .split('<tr')
        .find((each) => cells(each, 'name')[0]?.startsWith(name))
      return /developers\/([\w-]+)"/.exec(row ?? '')?.[1] ?? ''
    }
    const [ada, her] = [await idOf('ada'), await idOf('mallory')]
    await admin.post(`/portal/developers/${her}/role`, { administrator: 'yes' })
    await mallory.get('/portal/developers')
    const linkOf = ({ text }: { text: string }) =>
      new URL(/<code id="link">([^<]+)</.exec(text)?.[1] ?? '').pathname
    const links = [
      linkOf(await mallory.post(`/portal/developers/${ada}/password-link`)),
      new URL(await invite(mallory)).pathname,
    ]
    const kept = new URL(await invite(admin)).pathname
    await admin.post(`/portal/developers/${her}/${change}`, { administrator: 'no' })
    for (const link of links) expect((await newBrowser().get(link)).status).toBe(410)
    expect((await newBrowser().get(kept)).status).toBe(200)
  })
})
