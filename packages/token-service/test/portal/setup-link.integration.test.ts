import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { runCommand, temporaryFolder } from '../service-process.ts'
import { createApplication, createProject, createPortalBrowser } from './portal-browser.ts'

const password = 'canary password of the first developer'

it('the command prints a link until a developer has joined, and no secret is stored or logged', async () => {
  const cwd = temporaryFolder()
  const args = ['--port', '0', '--storage', 'sqlite:data/tokenwell.db', '--log-level', 'trace']
  const first = runCommand([...args, '--products', 'speech-to-text'], { cwd })
  const browser = createPortalBrowser(await first.authUrl)
  await expect.poll(() => first.output(), { timeout: 20_000 }).toContain('/portal/join/')
  const link = /First administrator +(\S+)/.exec(first.output())?.[1] ?? ''
  const { pathname } = new URL(link)

  await browser.get(pathname)
  const { location } = await browser.post(pathname, { name: 'ada', password })
  expect(location).toBe('/portal')
  await browser.get('/portal/projects')
  const { clientSecret } = await createApplication(browser, await createProject(browser))
  expect(clientSecret).toMatch(/^[\w-]{43}$/)
  const other = createPortalBrowser(await first.authUrl)
  await other.get('/portal/log-in')
  await other.post('/portal/log-in', { name: 'canary typed as a name', password: 'canary guess' })
  const sessionId = browser.cookies.get('tokenwell_portal') ?? ''
  first.child.kill('SIGTERM')
  expect((await first.ended).code).toBe(0)

  const log = first.output().replace(link, '')
  const files = readdirSync(join(cwd, 'data'), { recursive: true, encoding: 'utf8' })
    .map((name) => join(cwd, 'data', name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path))
  // The search itself works.
  expect(files.some((file) => file.includes('ada@example.com'))).toBe(true)
  expect(files.some((file) => file.includes('scrypt$32768$8$3$'))).toBe(true)
  const token = pathname.split('/').at(-1) ?? ''
  for (const secret of ['canary', token, sessionId, browser.csrfToken, clientSecret]) {
    expect(log).not.toContain(secret)
    expect(files.some((file) => file.includes(secret))).toBe(false)
  }

  const again = runCommand([...args, '--password-link', 'ada'], { cwd })
  const returned = createPortalBrowser(await again.authUrl)
  await expect.poll(() => again.output(), { timeout: 20_000 }).toContain('/portal/password/')
  await returned.get('/portal/log-in')
  expect((await returned.post('/portal/log-in', { name: 'ada', password })).location).toBe('/portal')
  // Sessions survive a restart.
  const session = createPortalBrowser(await again.authUrl)
  for (const [name, value] of browser.cookies) session.cookies.set(name, value)
  expect((await session.get('/portal/projects')).status).toBe(200)
  expect(again.output()).not.toContain('/portal/join/')
  const passwordLink = /New password of ada +(\S+\/portal\/password\/(\S+))/.exec(again.output())
  expect((await returned.get(new URL(passwordLink?.[1] ?? '').pathname)).status).toBe(200)
  again.child.kill('SIGTERM')
  expect((await again.ended).stdout).not.toContain(passwordLink?.[2])
})
