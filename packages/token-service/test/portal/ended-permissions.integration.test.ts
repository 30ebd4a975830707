import { describe, expect, it, vi } from 'vitest'
import {
  blockDeveloper,
  demoteDeveloper,
  promoteDeveloper,
  removeDeveloper,
} from '../../src/features/people/acts.ts'
import { removeOwner } from '../../src/features/projects/acts.ts'
import { developerStorage } from '../../src/features/people/storage.ts'
import { sessionStorage } from '../../src/features/sessions/storage.ts'
import type { Act } from '../../src/storage/act.ts'
import type { Developer } from '../../src/storage/developer.ts'
import {
  createApplication,
  createProject,
  idIn,
  password,
  startPortal,
  tokenFor,
  useCheapPasswords,
} from './portal-browser.ts'

useCheapPasswords()

const byService = { actorType: 'service' } as const
const title = 'You no longer have permission to do this'

/** Ada and Grace are administrators, and Linus is none. */
async function withPeople() {
  const portal = await startPortal()
  const { context } = portal.service
  const [grace, linus] = [await portal.developer('grace'), await portal.developer('linus')]
  const find = async (name: string) => (await context.storage.developers.find(name))!
  const act = <Result>(work: (act: Act) => Promise<Result>) => context.perform(byService, work)
  const her = await find('grace')
  await act((one) => promoteDeveloper(one, her))

  /** Does something after the next request was admitted, before its act: another act had its turn first. */
  function meanwhile(work: (act: Act) => Promise<unknown>): void {
    const { sessions } = context.storage
    const original = sessions.find.bind(sessions)
    vi.spyOn(sessions, 'find').mockImplementationOnce(async (...args) => {
      const found = await original(...args)
      await act(work)
      return found
    })
  }

  /** Does something while the next password is checked. */
  function duringPasswordCheck(work: (act: Act) => Promise<unknown>): void {
    const { developers } = context.storage
    const original = developers.find.bind(developers)
    vi.spyOn(developers, 'find').mockImplementationOnce(async (name) => {
      const found = await original(name)
      await act(work)
      return found
    })
  }

  const sessionsOf = ({ id }: Developer) => context.storage.sessions.list(id, context.clock.now())
  return { ...portal, context, grace, linus, find, act, meanwhile, duringPasswordCheck, sessionsOf }
}

type Ending = (act: Act, developer: Developer) => Promise<unknown>
const endings: Readonly<Record<string, Ending>> = {
  demoted: demoteDeveloper,
  blocked: blockDeveloper,
  removed: removeDeveloper,
  'logged out': (act, { id }) => sessionStorage(act).closeAll(id),
}

describe.each(Object.entries(endings))('an administrator who is %s while an act waits', (_how, end) => {
  it.each(['role', 'password-link', 'invitation'])('does not commit it: %s', async (what) => {
    const { grace, find, meanwhile, context } = await withPeople()
    const [her, other] = [await find('grace'), await find('linus')]
    const [path, form] = {
      role: [`/portal/developers/${other.id}/role`, { administrator: 'yes' }],
      'password-link': [`/portal/developers/${other.id}/password-link`, {}],
      invitation: ['/portal/invitations', { name: 'mallory' }],
    }[what] as [string, Record<string, string>]
    await grace.get('/portal/developers')
    const before = await context.storage.audit.list(100, { actor: 'grace' })
    meanwhile((act) => end(act, her))
    const { status, text } = await grace.post(path, form)
    expect([status, text.includes(title)]).toEqual([403, true])
    expect(await context.storage.audit.list(100, { actor: 'grace' })).toEqual(before)
    expect((await find('linus')).administrator).toBe(false)
    const nowMs = context.clock.now()
    expect(await context.storage.developers.invitations(nowMs)).toEqual([])
  })
})

describe('an act of somebody who keeps the permission', () => {
  it('is committed, and the audit log contains nothing of the session', async () => {
    const { grace, find, meanwhile, context } = await withPeople()
    const [{ id }, ada] = [await find('linus'), await find('ada')]
    await grace.get('/portal/developers')
    meanwhile((act) => demoteDeveloper(act, ada))
    expect((await grace.post(`/portal/developers/${id}/role`, { administrator: 'yes' })).status).toBe(303)
    expect((await find('linus')).administrator).toBe(true)
    const [entry] = await context.storage.audit.list(1, { actor: 'grace' })
    expect(entry).toMatchObject({ event: 'developer_promoted', actorType: 'person', detail: 'linus' })
    const [session] = await context.storage.sessions.list((await find('grace')).id, context.clock.now())
    expect(JSON.stringify(await context.storage.audit.list(100))).not.toContain(session!.hash)
  })
})

describe('approvals of several applications', () => {
  it('stop with the first one after the administrator was demoted', async () => {
    const { grace, linus, find, meanwhile, service, context } = await withPeople()
    const application = await createApplication(linus, await createProject(linus, 'Speech'))
    await grace.get('/portal/approvals')
    const pending = await context.storage.applications.findClient(application.clientId)
    const selected = `${pending?.application.revision} ${application.clientId}`
    const her = await find('grace')
    meanwhile((act) => demoteDeveloper(act, her))
    const form = { decision: 'approve', selected, reason: '' }
    expect((await grace.post('/portal/approvals', form)).status).toBe(403)
    expect((await tokenFor(service.authUrl, application)).status).toBe(401)
    const client = await context.storage.applications.findClient(application.clientId)
    expect(client?.application.status).toBe('pending')
  })
})

describe('somebody who is removed from the owners while an act waits', () => {
  async function withOwner() {
    const people = await withPeople()
    const { linus, find, context, act } = people
    const project = await createProject(linus, 'Own')
    const other = await createProject(linus, 'Other')
    const application = await createApplication(linus, project)
    await linus.get(application.path)
    const owner = await find('linus')
    const loses = async (path: string) => {
      const lost = (await context.storage.projects.find(idIn(path)))!
      const { developers } = context.storage
      const original = developers.projectIds.bind(developers)
      vi.spyOn(developers, 'projectIds').mockImplementationOnce(async (id) => {
        const ids = await original(id)
        await act((one) => removeOwner(one, lost, owner))
        return ids
      })
    }
    return { ...people, project, other, application, loses }
  }

  it('gets no secret', async () => {
    const { linus, project, application, loses, context } = await withOwner()
    await linus.get(`${application.path}/credentials`)
    await loses(project)
    const form = { overlap: 'never', submission_id: crypto.randomUUID() }
    expect((await linus.post(`${application.path}/secrets`, form)).status).toBe(403)
    const client = await context.storage.applications.findClient(application.clientId)
    expect(client?.secrets).toHaveLength(1)
  })
})

describe('a log-in during which', () => {
  const checks: Readonly<Record<string, Ending>> = {
    'the developer is blocked': blockDeveloper,
    'the developer is removed': removeDeveloper,
    'the password changes': (act, { id }) => developerStorage(act).changePassword(id, 'another hash'),
  }

  it.each(Object.entries(checks))('%s opens no session', async (_what, change) => {
    const { newBrowser, find, duringPasswordCheck, sessionsOf, act } = await withPeople()
    const developer = await find('linus')
    await act((one) => sessionStorage(one).closeAll(developer.id))
    const browser = newBrowser()
    await browser.get('/portal/log-in')
    duringPasswordCheck((one) => change(one, developer))
    const { status, text } = await browser.post('/portal/log-in', { name: 'linus', password })
    expect([status, text.includes(title)]).toEqual([403, true])
    expect(await sessionsOf(developer)).toEqual([])
  })
})

describe('a change of the password', () => {
  it('does not give a developer who is blocked meanwhile a password or a session', async () => {
    const { linus, find, duringPasswordCheck, sessionsOf } = await withPeople()
    const developer = await find('linus')
    await linus.get('/portal/account')
    duringPasswordCheck((act) => blockDeveloper(act, developer))
    const form = { password, new_password: 'another battery staple' }
    expect((await linus.post('/portal/account', form)).status).toBe(403)
    expect((await find('linus')).passwordHash).toBe('')
    expect(await sessionsOf(developer)).toEqual([])
  })
})
