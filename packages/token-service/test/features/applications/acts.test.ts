import { createRemoteKeySets } from '../../../src/oauth/remote-key-sets.ts'
import { type Application, type DpopUse, isBeingDeleted } from '../../../src/storage/application.ts'
import { describe, expect, it } from 'vitest'
import {
  ApplicationChanged,
  changeSettings,
  createApplication,
  deleteApplication,
  moveApplication,
  restoreApplication,
} from '../../../src/features/applications/acts.ts'
import { approve, decline, revokeApproval } from '../../../src/features/applications/approval-acts.ts'
import { revokeSecret, rotateSecret } from '../../../src/features/credentials/acts.ts'
import {
  changeProject,
  createProject,
  deleteProject,
  restoreProject,
} from '../../../src/features/projects/acts.ts'
import { createAssertionAuthenticator } from '../../../src/oauth/authenticate-by-assertion.ts'
import { createClientAuthenticator } from '../../../src/oauth/authenticate-client.ts'
import { createFailedAttemptLimit } from '../../../src/oauth/failed-attempt-limit.ts'
import type { Act } from '../../../src/storage/act.ts'
import { createTokenResponse } from '../../../src/oauth/issue-token.ts'
import { openTestMemory, performOn, testKeyring } from '../../storage/open-test-storage.ts'

const ada = { actorType: 'person', actor: 'ada', actorId: 'a', address: '192.0.2.1' } as const

async function registered() {
  const time = { now: 1_000_000 }
  const clock = { now: () => time.now }
  const storage = await openTestMemory()
  const { applications } = storage
  const keyring = testKeyring
  const perform = performOn(storage, { clock })
  const byAda =
    <Given extends unknown[], Result>(act: (act: Act, ...given: Given) => Promise<Result>) =>
    (...given: Given): Promise<Result> =>
      perform(ada, (each) => act(each, ...given))
  const acts = {
    createProject: byAda(createProject),
    changeProject: byAda(changeProject),
    deleteProject: byAda(deleteProject),
    restoreProject: byAda(restoreProject),
    createApplication: byAda(createApplication),
    changeSettings: byAda(changeSettings),
    moveApplication: byAda(moveApplication),
    deleteApplication: byAda(deleteApplication),
    restoreApplication: byAda(restoreApplication),
    approve: byAda(approve),
    decline: byAda(decline),
    revokeApproval: byAda(revokeApproval),
  }
  const failedAttempts = createFailedAttemptLimit(storage.failures, clock, {
    attempts: 100,
    windowSeconds: 60,
  })
  const { assertions } = storage
  const keySets = async () => createRemoteKeySets({ allowedHosts: [], warn: () => {} })
  const authenticateByAssertion = createAssertionAuthenticator({
    assertions,
    clock,
    failedAttempts,
    keySets,
  })
  const authenticate = createClientAuthenticator(
    async (id) => {
      const found = await applications.findClient(id)
      return found && { client: found, secrets: found.secrets, keys: found.application.keys }
    },
    { keyring, clock, failedAttempts, authenticateByAssertion, activity: { rehash() {} } },
  )

  const project = await acts.createProject({
    name: 'p',
    organizationName: 'o',
    developerEmail: 'e@example.com',
  })
  const { application, clientSecret } = await acts.createApplication({
    projectId: project.id,
    name: 'demo',
    status: 'approved',
    products: [],
    scopes: [],
    level: '',
    responseForm: 'products',
    lifetimeSeconds: 60,
    tokenFormat: 'opaque',
    audiences: [],
    dpop: 'allowed',
  })
  const { clientId } = application
  const client = async () => {
    const found = await applications.findClient(clientId)
    if (!found) throw new Error('There is no client.')
    return found
  }
  const owner = async () => {
    const { application: own, secrets } = await client()
    return { ...own, secrets, kind: 'applications' as const }
  }
  const rotate = async (overlapMs: number) => {
    const to = await owner()
    return (await perform(ada, (each) => rotateSecret(each, to, { overlapMs }))).clientSecret
  }
  const revoke = (from: Awaited<ReturnType<typeof owner>>, id: string) =>
    perform(ada, (each) => revokeSecret(each, from, id))
  const outcomeOf = (secret: string) =>
    authenticate({ clientId, clientSecret: secret }, { address: '127.0.0.1', audiences: () => [] }).then(
      () => 'accepted',
      (error: Error) => error.message,
    )
  return {
    time,
    storage,
    acts,
    project,
    application,
    clientSecret,
    client,
    owner,
    rotate,
    revoke,
    outcomeOf,
  }
}

describe('acts on projects and applications', () => {
  it('creates client IDs that no command takes for a flag', async () => {
    expect((await registered()).application.clientId).toMatch(/^[0-9a-f]{32}$/)
  })

  it('creates secrets of 256 random bits and stores only a hash and a short prefix', async () => {
    const { clientSecret, client, storage, outcomeOf } = await registered()
    expect(clientSecret).toMatch(/^[\w-]{43}$/)
    const [stored] = (await client()).secrets
    expect(stored?.prefix).toBe(clientSecret.slice(0, 4))
    expect(JSON.stringify(await client())).not.toContain(clientSecret.slice(4))
    expect(JSON.stringify(await storage.audit.list(10))).not.toContain(clientSecret)
    expect(await outcomeOf(clientSecret)).toBe('accepted')
  })

  it('rotates a secret: both are valid until the old one expires', async () => {
    const { time, clientSecret: first, outcomeOf, rotate } = await registered()
    const second = await rotate(5000)
    expect([await outcomeOf(first), await outcomeOf(second)]).toEqual(['accepted', 'accepted'])
    time.now += 5000
    expect([await outcomeOf(first), await outcomeOf(second)]).toEqual(['expired_secret', 'accepted'])
    expect(await outcomeOf('wrong')).toBe('invalid_client')
  })

  it('never extends the lifetime of a secret by rotating', async () => {
    const { time, clientSecret: first, outcomeOf, rotate } = await registered()
    await rotate(1000)
    await rotate(999_000)
    time.now += 1000
    expect(await outcomeOf(first)).toBe('expired_secret')
  })

  it('rotates a secret without an end for the old one', async () => {
    const { client, rotate } = await registered()
    await rotate(Infinity)
    expect((await client()).secrets.map(({ expiresAtMs }) => expiresAtMs)).toEqual([undefined, undefined])
  })

  it("revokes a secret at once, and only an application's own", async () => {
    const { clientSecret: first, client, owner, outcomeOf, rotate, revoke } = await registered()
    const second = await rotate(5000)
    const [oldest] = (await client()).secrets
    await revoke({ ...(await owner()), secrets: [] }, oldest?.id ?? '')
    expect(await outcomeOf(first)).toBe('accepted')
    await revoke(await owner(), oldest?.id ?? '')
    expect([await outcomeOf(first), await outcomeOf(second)]).toEqual(['invalid_client', 'accepted'])
  })

  it('requests approval of more products, scopes, audiences or a longer lifetime, or of JWTs, unless an administrator sets them', async () => {
    const { acts, application, client } = await registered()
    const { name, level, responseForm, organizationName, developerEmail } = application
    const opaque = { tokenFormat: 'opaque' as const, audiences: [] as string[], dpop: 'allowed' as DpopUse }
    const stated = { name, level, organizationName, developerEmail, scopes: [] as string[], ...opaque }
    const change = async (
      products: string[],
      lifetimeSeconds: number,
      byAdministrator = false,
      scopes: string[] = [],
      tokens: Pick<Application, 'tokenFormat' | 'audiences' | 'dpop'> = opaque,
    ) => {
      const settings = { name, level, responseForm, products, scopes, lifetimeSeconds, ...tokens }
      await acts.changeSettings((await client()).application, settings, { byAdministrator })
      const { application: changed } = await client()
      return [changed.products, changed.lifetimeSeconds, changed.requested]
    }
    expect(await change(['sms'], 60)).toEqual([[], 60, { ...stated, products: ['sms'], lifetimeSeconds: 60 }])
    expect(await change([], 61)).toEqual([[], 60, { ...stated, products: [], lifetimeSeconds: 61 }])
    const withScope = { ...stated, products: [], scopes: ['read'], lifetimeSeconds: 60 }
    expect(await change([], 60, false, ['read'])).toEqual([[], 60, withScope])
    const jwt = { tokenFormat: 'jwt' as const, audiences: ['a'], dpop: 'allowed' as DpopUse }
    const withJwt = { ...stated, products: [], lifetimeSeconds: 60, ...jwt }
    expect(await change([], 60, false, [], jwt)).toEqual([[], 60, withJwt])
    const withAudience = { ...withJwt, tokenFormat: 'opaque' as const }
    expect(await change([], 60, false, [], { ...opaque, audiences: ['a'] })).toEqual([[], 60, withAudience])
    const unbound = { ...opaque, dpop: 'none' as const }
    const withUnbound = { ...stated, products: [], lifetimeSeconds: 60, ...unbound }
    expect(await change([], 60, false, [], unbound)).toEqual([[], 60, withUnbound])
    expect(await change([], 60, false, [], { ...opaque, dpop: 'required' })).toEqual([[], 60, undefined])
    expect(await change([], 60)).toEqual([[], 60, { ...stated, products: [], lifetimeSeconds: 60 }])
    expect(await change(['sms'], 61, true)).toEqual([['sms'], 61, undefined])
    expect(await change([], 60)).toEqual([[], 60, undefined])
    await acts.revokeApproval(application)
    expect(await change(['sms'], 61)).toEqual([['sms'], 61, undefined])
  })

  it('requests approval of what token responses state, and keeps the approved values until then', async () => {
    const { acts, project, application, client, time } = await registered()
    const response = async () => {
      const { application: current } = await client()
      return createTokenResponse(
        { scopes: [], value: 't', tokenType: 'Bearer', issuedAtMs: 0, lifetimeSeconds: 1 },
        { application: current },
      )
    }
    const approved = { application_name: 'demo', organization_name: 'o', developer_email: 'e@example.com' }
    expect(await response()).toMatchObject(approved)
    const settings = { ...application, name: 'Bank', level: 'gold' }
    await acts.changeSettings((await client()).application, settings, { byAdministrator: false })
    await acts.changeProject(project, { name: 'q', organizationName: 'Bank', developerEmail: 'b' }, false)
    const other = await acts.createProject({ name: 'r', organizationName: 'Other', developerEmail: 'c' })
    time.now += 60_000
    await acts.moveApplication(application, other.id, false)
    expect((await client()).application.review?.requestedAtMs).toBe(time.now)
    expect(await response()).toMatchObject(approved)
    const requested = { name: 'Bank', level: 'gold', organizationName: 'Other', developerEmail: 'c' }
    expect((await client()).application.requested).toMatchObject(requested)
    // An administrator who changes the project does not approve the rest.
    await acts.changeProject(other, { name: 'r', organizationName: 'New', developerEmail: 'd' }, true)
    expect(await response()).toMatchObject({ application_name: 'demo', organization_name: 'New' })
    const { application: current } = await client()
    expect(current.requested).toMatchObject({ name: 'Bank', organizationName: 'New' })
    await acts.approve(current, current.revision)
    expect(await response()).toMatchObject({ application_name: 'Bank', organization_name: 'New' })
    const { level, requested: open } = (await client()).application
    expect([level, open]).toEqual(['gold', undefined])
  })

  it('writes each change to the audit log', async () => {
    const { acts, application, client, owner, storage, rotate, revoke } = await registered()
    await acts.revokeApproval(application)
    await rotate(0)
    await revoke(await owner(), (await client()).secrets[0]?.id ?? '')
    const events = (await storage.audit.list(10)).map(({ event }) => event)
    expect(events.toReversed()).toEqual([
      'database_created',
      'project_created',
      'application_created',
      'application_revoked',
      'secret_rotated',
      'secret_revoked',
    ])
  })

  it('deletes a project or an application after a time in which it can be restored', async () => {
    const { time, storage, acts, project, client } = await registered()
    await acts.deleteProject(project, false)
    const deleted = await client()
    expect(isBeingDeleted(deleted)).toBe(true)
    expect(deleted.application.tokenGeneration).toBe(1)
    await acts.restoreProject(project, false)
    expect(isBeingDeleted(await client())).toBe(false)

    await acts.deleteApplication(deleted.application, false)
    expect(isBeingDeleted(await client())).toBe(true)
    await acts.restoreApplication(deleted.application, false)
    expect(isBeingDeleted(await client())).toBe(false)

    await acts.deleteApplication(deleted.application, false)
    time.now += 30 * 86_400_000 - 1
    expect(await storage.projects.purge(time.now)).toBe(0)
    expect(await storage.projects.purge(time.now + 1)).toBe(1)
  })

  it('purges more than one step at once, and what was not deleted stays', async () => {
    const { time, storage, acts, project, application } = await registered()
    const kept = await acts.createProject({ ...project, name: 'kept' })
    await acts.createApplication({ ...application, projectId: kept.id })
    for (let each = 0; each < 450; each += 1) await acts.createApplication(application)
    await acts.deleteProject(project, false)
    time.now += 30 * 86_400_000
    expect(await storage.projects.purge(time.now)).toBe(452)
    expect(await storage.projects.list()).toMatchObject([{ name: 'kept' }])
    expect(await storage.applications.page(10)).toMatchObject([{ secrets: [{}] }])
    const { query } = storage.database
    expect(await query.selectFrom('secrets').select('id').execute()).toHaveLength(1)
  })

  it('changes projects, moves applications and declines requests', async () => {
    const { acts, storage, project, application, client, time } = await registered()
    const details = { name: 'q', organizationName: 'r', developerEmail: 's@example.com' }
    await acts.changeProject(project, details, true)
    expect(await storage.projects.list()).toEqual([{ ...project, ...details }])
    const other = await acts.createProject({ ...details, name: 'other' })
    await acts.moveApplication(application, other.id, true)
    expect((await client()).project).toEqual(other)
    const settings = { ...application, products: ['sms'] }
    time.now += 60_000
    await acts.changeSettings((await client()).application, settings, { byAdministrator: false })
    await acts.decline(application, { reason: 'no' })
    const { products, requested, review, revision } = (await client()).application
    expect([products, requested]).toEqual([[], undefined])
    expect(review?.requestedAtMs).toBe(time.now)
    expect(review?.declined).toMatchObject({ reason: 'no', requested: { products: ['sms'] }, revision })
    await expect(acts.decline(application)).rejects.toThrow('there is nothing to decline')
    await expect(acts.decline(application, { revision: revision - 1 })).rejects.toThrow(ApplicationChanged)
    const { clientId } = application
    expect(await storage.audit.list(6)).toMatchObject([
      { event: 'request_declined', clientId, detail: 'no', ...ada },
      { event: 'approval_requested', clientId, ...ada },
      { event: 'application_moved', clientId, detail: other.id, ...ada },
      { event: 'project_created', detail: other.id, ...ada },
      { event: 'application_changed', clientId, ...ada },
      { event: 'project_changed', detail: project.id, ...ada },
    ])
  })

  it('rejects a change of what has changed in the meantime', async () => {
    const { acts, application } = await registered()
    const settings = { ...application, name: 'renamed' }
    await acts.changeSettings(application, settings, { byAdministrator: false })
    await expect(acts.changeSettings(application, settings, { byAdministrator: false })).rejects.toThrow(
      'The application was changed in the meantime. Fetch it again, and repeat the change.',
    )
    await expect(acts.approve(application, application.revision)).rejects.toThrow(ApplicationChanged)
  })
})
