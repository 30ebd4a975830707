import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { runCommand, temporaryFolder } from '../service-process.ts'
import { createApplication, createProject, createVisitor } from './portal-visitor.ts'

const password = 'canary password of the first developer'

it(
  'the command says a link until somebody has joined, and keeps nothing of the visit in the clear',
  { timeout: 60_000 },
  async () => {
    const cwd = temporaryFolder()
    const args = ['--port', '0', '--storage', 'sqlite:data/tokenwell.db', '--log-level', 'trace']
    const first = runCommand(args, { cwd })
    const visitor = createVisitor(await first.authUrl)
    await expect.poll(() => first.output(), { timeout: 20_000 }).toContain('/portal/join/')
    const link = /open within 15 minutes: (\S+)/.exec(first.output())?.[1] ?? ''
    const { pathname } = new URL(link)

    await visitor.get(pathname)
    const { location } = await visitor.post(pathname, { name: 'ada', password })
    expect(location).toBe('/portal/projects')
    await visitor.get('/portal/projects')
    const { clientSecret } = await createApplication(visitor, await createProject(visitor))
    expect(clientSecret).toMatch(/^[\w-]{43}$/)
    const other = createVisitor(await first.authUrl)
    await other.get('/portal/log-in')
    await other.post('/portal/log-in', { name: 'canary typed as a name', password: 'canary guess' })
    const sessionId = visitor.cookie.split('=')[1]?.split('.')[0] ?? ''
    first.child.kill('SIGTERM')
    expect((await first.ended).code).toBe(0)

    const log = first.output().replace(link, '')
    const files = readdirSync(join(cwd, 'data'), { recursive: true, encoding: 'utf8' })
      .map((name) => join(cwd, 'data', name))
      .filter((path) => statSync(path).isFile())
      .map((path) => readFileSync(path))
    // The search itself works: what may be there is found.
    expect(files.some((file) => file.includes('ada@example.com'))).toBe(true)
    const token = pathname.split('/').at(-1) ?? ''
    for (const secret of ['canary', token, sessionId, visitor.formToken, clientSecret]) {
      expect(log).not.toContain(secret)
      expect(files.some((file) => file.includes(secret))).toBe(false)
    }

    const again = runCommand([...args, '--password-link', 'ada'], { cwd })
    const returned = createVisitor(await again.authUrl)
    await expect.poll(() => again.output(), { timeout: 20_000 }).toContain('/portal/password/')
    await returned.get('/portal/log-in')
    expect((await returned.post('/portal/log-in', { name: 'ada', password })).location).toBe(
      '/portal/projects',
    )
    // Sessions outlive the process: their keys lie beside the database.
    const session = createVisitor(await again.authUrl)
    session.cookie = visitor.cookie
    expect((await session.get('/portal/projects')).status).toBe(200)
    expect(again.output()).not.toContain('/portal/join/')
    const passwordLink = /open within 15 minutes: (\S+\/portal\/password\/(\S+))/.exec(again.output())
    expect((await returned.get(new URL(passwordLink?.[1] ?? '').pathname)).status).toBe(200)
    again.child.kill('SIGTERM')
    expect((await again.ended).stdout).not.toContain(passwordLink?.[2])
  },
)
