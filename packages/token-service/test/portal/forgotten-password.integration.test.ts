import { describe, expect, it } from 'vitest'
import { runCommand, temporaryFolder } from '../service-process.ts'
import { createVisitor, password, shown, startPortal } from './portal-visitor.ts'

const newPassword = 'another horse, another battery'

describe('a developer who forgot the password', () => {
  it('sets a new one by a link of the administrator, once', { timeout: 60_000 }, async () => {
    const { admin, developer, stranger, service } = await startPortal()
    const [grace, eve] = [await developer('grace'), await developer('eve')]
    const { text } = await admin.get('/portal/developers')
    const [path = '', ...others] = [...text.matchAll(/action="([^"]+\/password-link)"/g)].map(
      ([, each]) => each ?? '',
    )
    expect(others).toHaveLength(1)
    expect((await eve.post(path)).status).toBe(403)
    expect((await admin.post('/portal/developers/nobody/password-link')).status).toBe(404)
    const made = await admin.post(path)
    expect(made.text).toContain('Send this link to grace')
    const { pathname } = new URL(shown(made.text, 'link'))
    expect((await grace.get('/portal/projects')).status).toBe(200)

    const visitor = stranger()
    expect((await visitor.get(pathname)).text).toContain('<strong>grace</strong>')
    const short = await visitor.post(pathname, { new_password: 'short' })
    expect([short.status, short.text.includes('At least 12 characters, please.')]).toEqual([422, true])
    expect((await visitor.post(pathname, { new_password: newPassword })).location).toBe('/portal/projects')
    expect((await visitor.get('/portal/projects')).status).toBe(200)
    expect((await grace.get('/portal/projects')).location).toBe('/portal/log-in')
    expect((await visitor.get(pathname)).status).toBe(410)
    expect((await visitor.post(pathname, { new_password: newPassword })).status).toBe(410)
    expect((await eve.get('/portal/projects')).status).toBe(200)

    const returned = createVisitor(service.authUrl)
    await returned.get('/portal/log-in')
    expect((await returned.post('/portal/log-in', { name: 'grace', password })).status).toBe(422)
    const { location } = await returned.post('/portal/log-in', { name: 'grace', password: newPassword })
    expect(location).toBe('/portal/projects')
  })

  it('is set right by the command, where it is the administrator', { timeout: 60_000 }, async () => {
    const { service } = await startPortal()
    const { pathname } = new URL(await service.createPasswordLink('ADA'))
    const visitor = createVisitor(service.authUrl)
    await visitor.get(pathname)
    expect((await visitor.post(pathname, { new_password: newPassword })).location).toBe('/portal/projects')
    await expect(service.createPasswordLink('nobody')).rejects.toThrow('knows nobody by the name "nobody"')
  })
})

it('the command ends with a sentence where the portal knows nobody by the name', async () => {
  const args = ['--port', '0', '--storage', 'memory', '--password-link', 'nobody']
  const { code, stderr } = await runCommand(args, { cwd: temporaryFolder() }).ended
  expect(code).toBe(2)
  expect(stderr).toContain('tokenwell-service: The developer portal knows nobody by the name "nobody".')
})
