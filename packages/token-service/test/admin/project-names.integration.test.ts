import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  postgresIsAbsent,
  startPostgres,
  withoutPostgres,
  type PostgresCluster,
} from '@tokenwell/internal-testing/postgres'
import { cells, createProject, plainText, startPortal, useCheapPasswords } from '../portal/portal-browser.ts'
import { temporaryFolder } from '../service-process.ts'
import { adminSender, administeredService, application, requestToken } from '../test-service.ts'

useCheapPasswords()

const adminToken = 'administrator-token-0123456789-abcdef'

describe('the name of a project', () => {
  async function withProjects() {
    const portal = await startPortal({ adminPort: 0, adminToken })
    const send = adminSender(portal.service.adminUrl!, adminToken)
    const { body: billing } = await send('POST', '/projects', { name: 'Billing' })
    const eve = await portal.developer('eve')
    return { ...portal, send, billing, eve, own: await createProject(eve, 'mine') }
  }
  const named = (name: string) => ({ name, organization_name: '', developer_email: '' })

  it.each(['Billing', 'billing', ' BILLING ', 'Ｂilling', 'Bi11ing'])(
    'is not used twice: %s',
    async (name) => {
      const { eve, own, send, admin } = await withProjects()
      for (const path of [`${own}/settings`, '/portal/new-project']) {
        const { status, text } = await eve.post(path, named(name))
        expect([status, plainText(text)]).toEqual([
          422,
          expect.stringContaining('Another project has this name.'),
        ])
      }
      const { status, body } = await send('POST', '/projects', { name })
      expect([status, body.error]).toEqual([409, `There is a project named "${name.trim()}" already.`])
      expect((await eve.post(`${own}/settings`, named('Mine'))).location).toBe(own)
      expect(cells((await admin.get('/portal/projects')).text, 'name')).toHaveLength(2)
    },
  )

  it.each([
    ['Biⅼⅼing\u115f', 'must not contain invisible characters'],
    ['Вilling', 'must use the letters of one script'],
    ['тоос', 'must use Latin letters'],
    ['billing ٣', 'must use the digits 0 to 9'],
  ])('cannot be read as another one: %s', async (name, what) => {
    const { eve, own, send } = await withProjects()
    for (const path of [`${own}/settings`, '/portal/new-project']) {
      const { status, text } = await eve.post(path, named(name))
      expect([status, plainText(text)]).toEqual([422, expect.stringContaining(`This ${what}.`)])
    }
    const { status, body } = await send('POST', '/projects', { name })
    expect([status, body.error]).toEqual([400, `name ${what}.`])
    const options = { applications: [{ ...application, project: name }] }
    await expect(administeredService(options)).rejects.toThrow(`"applications[0].project" ${what}`)
  })

  it.each(['Платежи', '決済', 'Billing (EU) – 2', 'Zahlungen & Löhne'])('can be %s', async (name) => {
    const { send } = await withProjects()
    expect((await send('POST', '/projects', { name })).body.name).toBe(name)
  })

  it('gives nobody the applications that administrators create for others', async () => {
    const { eve, own, send, billing, service } = await withProjects()
    await eve.post(`${own}/settings`, named('Billing'))
    const { body } = await send('POST', '/applications', { name: 'batch', projectId: billing.id })
    expect((await requestToken(service.authUrl, body)).status).toBe(200)
    expect((await send('GET', `/applications/${body.clientId}`)).body.projectId).toBe(billing.id)
    expect((await eve.get(own)).text).not.toContain('batch')
    // A name does not identify a project.
    for (const wrong of [{ project: 'Billing' }, { projectId: 'Billing' }])
      expect((await send('POST', '/applications', { name: 'batch', ...wrong })).status).toBeGreaterThan(399)
    expect((await send('GET', '/projects')).body).toMatchObject([
      { name: 'Billing', owners: [] },
      { name: 'mine', owners: ['eve'] },
    ])
  })

  it('may be that of a configured project, which is then another one', async () => {
    const storage = `sqlite:${join(temporaryFolder(), 'data.db')}`
    const first = await administeredService({ storage, applications: [] })
    const { id: taken } = (await first.send('POST', '/projects', { name: 'default' })).body
    await first.close()
    const { send } = await administeredService({ storage })
    const { projectId } = (await send('GET', `/applications/${application.clientId}`)).body
    const projects = (await send('GET', '/projects')).body
    expect(projects).toMatchObject([
      { id: taken, name: 'default' },
      { id: projectId, name: 'default (2)' },
    ])
  })
})

describe.skipIf(postgresIsAbsent)(`the name of a project in PostgreSQL (${withoutPostgres})`, () => {
  let postgres: PostgresCluster
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres.stop())

  it('is given once, by several instances at the same time', async () => {
    const storage = await postgres.createDatabase()
    const options = { storage, secretHashKeys: ['a key of more than thirty-two characters'] }
    const instances = await Promise.all([1, 2].map(() => administeredService(options)))
    const created = Array.from({ length: 10 }, (_, index) =>
      instances[index % 2]!.send('POST', '/projects', { name: 'Billing' }),
    )
    const statuses = (await Promise.all(created)).map(({ status }) => status)
    expect(statuses.toSorted((a, b) => a - b)).toEqual([201, ...Array.from({ length: 9 }, () => 409)])
    const { body } = await instances[0]!.send('GET', '/projects')
    expect(body.filter(({ name }: { name: string }) => name === 'Billing')).toHaveLength(1)
  })
})
