import { describe, expect, it } from 'vitest'
import { runCommand, temporaryFolder } from '../service-process.ts'
import {
  createPortalBrowser,
  logInPath,
  password,
  shown,
  startPortal,
  useCheapPasswords,
} from './portal-browser.ts'

useCheapPasswords()

const newPassword = 'another horse, another battery'

describe('a developer who forgot the password', () => {
  it('sets a new one with a link from the administrator, once', async () => {
    const { admin, developer, newBrowser, service } = await startPortal()
    const [grace, eve] = [await developer('grace'), await developer('eve')]
    const { text } = await admin.get('/portal/developers')
    const [, , person = ''] = [...text.matchAll(/href="([^"]+\/developers\/[\w-]+)"/g)].map(
      ([, each]) => each ?? '',
    )
    const path = `${person}/password-link`
    expect((await eve.post(path)).status).toBe(403)
    expect((await admin.post('/portal/developers/nobody/password-link')).status).toBe(404)
    const made = await admin.post(path)
    expect(made.text).toContain('Send this link to grace')
    const { pathname } = new URL(shown(made.text, 'link'))
    expect((await grace.get('/portal/projects')).status).toBe(200)

    const browser = newBrowser()
    expect((await browser.get(pathname)).text).toContain('<strong>grace</strong>')
    const short = await browser.post(pathname, { new_password: 'short' })
    expect([short.status, short.text.includes('Use at least 12 characters.')]).toEqual([422, true])
    expect((await browser.post(pathname, { new_password: newPassword })).location).toBe('/portal')
    expect((await browser.get('/portal/projects')).status).toBe(200)
    expect((await grace.get('/portal/projects')).location).toBe(logInPath)
    expect((await browser.get(pathname)).status).toBe(410)
    expect((await browser.post(pathname, { new_password: newPassword })).status).toBe(410)
    expect((await eve.get('/portal/projects')).status).toBe(200)

    const returned = createPortalBrowser(service.authUrl)
    await returned.get('/portal/log-in')
    expect((await returned.post('/portal/log-in', { name: 'grace', password })).status).toBe(422)
    const { location } = await returned.post('/portal/log-in', { name: 'grace', password: newPassword })
    expect(location).toBe('/portal')
  })

  it('cannot use a link after the password was changed', async () => {
    const { service, admin, newBrowser } = await startPortal()
    const { pathname } = new URL(await service.createPasswordLink('ada'))
    await admin.get('/portal/account')
    expect((await admin.post('/portal/account', { password, new_password: newPassword })).status).toBe(303)
    expect((await newBrowser().get(pathname)).status).toBe(410)
  })

  it('gets a link from the command if it is the administrator', async () => {
    const { service } = await startPortal()
    const { pathname } = new URL(await service.createPasswordLink('ADA'))
    const browser = createPortalBrowser(service.authUrl)
    await browser.get(pathname)
    expect((await browser.post(pathname, { new_password: newPassword })).location).toBe('/portal')
    await expect(service.createPasswordLink('nobody')).rejects.toThrow('no developer named "nobody"')
  })
})

it('the command reports an unknown developer', async () => {
  const args = ['--port', '0', '--storage', 'memory', '--password-link', 'nobody']
  const { code, stderr } = await runCommand(args, { cwd: temporaryFolder() }).ended
  expect(code).toBe(2)
  expect(stderr).toContain('tokenwell-service: The developer portal has no developer named "nobody".')
})
