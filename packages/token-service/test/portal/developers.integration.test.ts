import { describe, expect, it } from 'vitest'
import {
  applicationForm,
  ask,
  createApplication,
  createProject,
  password,
  startPortal,
  withApplication,
} from './portal-visitor.ts'

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
