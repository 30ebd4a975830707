import { randomUUID } from 'node:crypto'
import { describe, expect, it, vi } from 'vitest'
import { cells, createProject, plainText, startPortal, useCheapPasswords } from './portal-browser.ts'

useCheapPasswords()

const count = 10_000

/** An administrator of a service with many projects and applications. */
async function withThousands() {
  const { admin, service } = await startPortal()
  const { storage } = service.context
  const project = (index: number) => ({
    id: `project-${index}`,
    name: `Project ${index}`,
    organizationName: 'Example',
    developerEmail: '',
    createdAtMs: 1,
  })
  for (let index = 0; index < 100; index += 1) await storage.projects.create(project(index))
  for (let index = 0; index < count; index += 1) {
    const application = {
      id: randomUUID(),
      projectId: `project-${index % 10}`,
      name: `Application ${String(index).padStart(5, '0')}`,
      clientId: `client-${index}`,
      status: index % 2 === 0 ? ('pending' as const) : ('approved' as const),
      products: ['speech-to-text'],
      scopes: ['read', 'write'],
      level: '',
      organizationName: 'o',
      developerEmail: 'e',
      responseForm: 'products' as const,
      lifetimeSeconds: 3600,
      createdAtMs: index,
      revision: 0,
      tokenGeneration: 0,
      keys: [],
      tokenFormat: 'opaque' as const,
      audiences: [],
      dpop: 'allowed' as const,
      claims: {},
    }
    await storage.applications.create(application, [])
  }
  return { browser: admin, storage }
}

it('with 300 scopes whose names are URLs, no page has over 100 kB', async () => {
  const scopes = Array.from({ length: 300 }, (_, index) => ({
    name: `https://api.example.org/auth/accounts-receivable.administration-of-every-tenant.${index}`,
    audience: `https://${index % 20}.api.example.org/v1`,
    description: 'What others can do with it, in one sentence of some length',
  }))
  const resourceServers = [
    { name: 'API', clientId: 'api', clientSecret: 's'.repeat(20), audiences: [scopes[0]!.audience] },
  ]
  const { admin } = await startPortal({ scopes, resourceServers })
  await createProject(admin)
  const pages = ['scopes', 'scopes?page=2', 'new-application', 'get-started', 'resource-servers/api', 'audit']
  for (const path of pages) {
    const { status, text } = await admin.get(`/portal/${path}`)
    expect([path, status]).toEqual([path, 200])
    expect(Buffer.byteLength(text), path).toBeLessThan(100_000)
  }
})

describe('with 10,000 applications', () => {
  it('no page has over 100 kB or 200 rows, and lists are searched and paged', async () => {
    const { browser, storage } = await withThousands()
    const sections = [
      'get-started',
      'applications',
      'projects',
      'projects/project-1',
      'approvals',
      'developers',
    ]
    const others = ['products', 'resource-servers', 'audit', 'account', 'reference', 'new-project']
    for (const path of [...sections, ...others]) {
      const { status, text } = await browser.get(`/portal/${path}`)
      expect([path, status]).toEqual([path, 200])
      expect(Buffer.byteLength(text), path).toBeLessThan(100_000)
      expect(text.split('<tr').length - 1, path).toBeLessThanOrEqual(200)
    }
    const names = (text: string) =>
      cells(text, 'name').map((cell) => cell.slice(0, 'Application 00000'.length))
    const first = await browser.get('/portal/applications')
    expect(names(first.text)).toHaveLength(50)
    expect(plainText(first.text)).toContain('1–50 of 10,000 applications')
    const next = names((await browser.get('/portal/applications?page=2')).text)
    expect([next[0], next.length]).toEqual(['Application 00050', 50])
    expect(names((await browser.get('/portal/applications?q=CATION%2004999')).text)).toEqual([
      'Application 04999',
    ])
    expect(names((await browser.get('/portal/applications?q=client-777&page=9')).text)).toEqual([])

    // The pages of an application read no other one of its project.
    const readAll = vi.spyOn(storage.applications, 'list')
    const client = await storage.applications.findClient('client-4321')
    const path = `/portal/projects/project-1/applications/${client?.application.id}`
    for (const each of [path, `${path}/settings`, `${path}/credentials`, '/portal/get-started'])
      expect((await browser.get(each)).status).toBe(200)
    expect(readAll).not.toHaveBeenCalled()
    const elsewhere = path.replace('project-1', 'project-2')
    expect((await browser.get(elsewhere)).status).toBe(404)

    expect(plainText((await browser.get('/portal/applications?show=pending')).text)).toContain('of 5,000')

    const queue = await browser.get('/portal/approvals?q=Application%2000042')
    expect(names(queue.text)).toEqual(['Application 00042'])
    const [, value = ''] = /name="approve"\s+value="([^"]+)"/.exec(queue.text) ?? []
    expect((await browser.post('/portal/approvals', { approve: value })).location).toMatch(
      /approvals\?decided=/,
    )
    expect((await storage.applications.findClient('client-42'))?.application.status).toBe('approved')
    expect(plainText((await browser.get('/portal/approvals')).text)).toContain(
      '1–50 of 4,999 applications to decide on',
    )
  })
})
