import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  postgresIsAbsent,
  startPostgres,
  withoutPostgres,
  type PostgresCluster,
} from '@tokenwell/internal-testing/postgres'
import { createRandom } from '@tokenwell/internal-testing/random'
import { describeToken } from '../../src/oauth/describe-token.ts'
import { accessTokenHash } from '../../src/oauth/token-storage.ts'
import type { RegisteredClient } from '../../src/storage/application.ts'
import { administeredService, introspect, requestToken } from '../test-service.ts'
import {
  applicationForm,
  createPortalBrowser,
  password,
  shown,
  useCheapPasswords,
  type PageResponse,
  type PortalBrowser,
} from './portal-browser.ts'

useCheapPasswords()

const isLong = process.env['TOKENWELL_SOAK'] === '1'
const steps = Number(process.env['RUNS'] ?? (isLong ? 10_000 : 500))
// The same random numbers each time; `pnpm soak` tries many more acts, with a random seed.
const seed = Number(process.env['SEED'] ?? (isLong ? Date.now() % 1_000_000 : 261_126))
const products = ['payments', 'speech', 'sms']
const apis = ['urn:orders', 'urn:bills']
const projectNames = ['Billing', 'billing', 'Speech', 'Payroll', 'Ops'].flatMap((name) =>
  Array.from({ length: 6 }, (_, index) => `${name} ${index}`),
)
/** How often each act is tried; once, if it is not named. */
const weights: Readonly<Record<string, number>> = {
  createProject: 3,
  createApplication: 6,
  createByApi: 3,
  decide: 6,
  changeSettings: 2,
  move: 4,
  changeOwners: 4,
  rotate: 2,
  token: 6,
  tryToken: 2,
  introspect: 6,
  removeApis: 2,
  revokeSecret: 4,
  deleteApplication: 3,
  restoreApplication: 6,
  seeQueue: 2,
  approveSeen: 4,
}

interface Person {
  readonly id: string
  readonly name: string
  /** One for each instance, with the same cookies. */
  readonly browsers: readonly PortalBrowser[]
}

/** What an administrator approved, and for whom. */
interface Grant {
  readonly products: ReadonlySet<string>
  readonly owners: Set<string>
}

describe.skipIf(postgresIsAbsent)(`developers and administrators (${withoutPostgres})`, () => {
  let postgres: PostgresCluster
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres.stop())

  it(
    `hold nothing that no administrator approved for them, whatever they do (seed ${seed})`,
    {
      timeout: 30 * 60_000,
    },
    async () => {
      const random = createRandom(seed)
      const pick = <Item>(items: readonly Item[]): Item | undefined =>
        items[Math.floor(random() * items.length)]
      const some = (items: readonly string[]) => items.filter(() => random() < 0.5)

      const options = {
        storage: await postgres.createDatabase(),
        secretHashKeys: ['a key of more than thirty-two characters'],
        applications: [],
        products,
      }
      const [one, other] = [await administeredService(options), await administeredService(options)]
      const { storage } = one.context
      const people = await joinAll(one, other.authUrl)
      const instance = () => pick([one, other])!

      const grants = new Map<string, Grant>()
      const secrets: { readonly clientId: string; readonly clientSecret: string }[] = []
      const links: { readonly by: Person; readonly path: string }[] = []
      /** The tokens that may be active, with the grant they are from and the secret or person that they were issued for. */
      const tokens = new Map<string, readonly [clientId: string, grant: Grant, issuedFor: string]>()
      /** Secrets, people and applications that have ended: nothing has their IDs again. */
      const over = new Set<string>()
      /** Forms that browsers have sent, and send again. */
      const submissions: string[] = []
      /** What an administrator saw in the queue, and decides on later. */
      let queue: readonly string[] = []
      const succeeded = new Map<string, number>()
      /** The applications and projects that an administrator deleted. */
      const taken = new Set<string>()

      const owners = (projectId: string) => storage.developers.ownerIds(projectId)
      const isAdministrator = async ({ name }: Person) =>
        (await storage.developers.find(name))?.administrator === true

      async function approved({ application, project }: RegisteredClient): Promise<void> {
        const current = (await storage.applications.findClient(application.clientId))!.application
        if (current.status !== 'approved') return
        const grant = { products: new Set(current.products), owners: new Set(await owners(project.id)) }
        const before = grants.get(application.clientId)
        // What changes an approval ends no tokens.
        grants.set(application.clientId, before ? Object.assign(before, grant) : grant)
      }

      /** Its tokens stay revoked, even if it is approved again. */
      function ended({ application: { clientId } }: RegisteredClient): void {
        grants.delete(clientId)
      }

      function renewed({ application: { clientId } }: RegisteredClient): void {
        const grant = grants.get(clientId)
        if (grant) grants.set(clientId, { ...grant })
      }

      /** Mostly a new form; else one that was sent before, also of something else. */
      function submissionId(): string {
        const again = random() < 0.3 ? pick(submissions) : undefined
        const id = again ?? crypto.randomUUID()
        submissions.push(id)
        return id
      }

      function endSecrets({ secrets: all }: RegisteredClient): void {
        for (const { id } of all) over.add(id)
      }

      async function received(clientId: string, token: string): Promise<void> {
        const found = await storage.tokens.find(accessTokenHash(token))
        const { secretId, applicationId } = found!.token
        expect([secretId, applicationId].filter((id) => over.has(id))).toEqual([])
        tokens.set(token, [clientId, grants.get(clientId)!, secretId])
      }

      function check(client: RegisteredClient, of: readonly string[]): void {
        const { clientId, products: has } = client.application
        const grant = grants.get(clientId)
        const unapproved = has.filter((product) => !grant?.products.has(product))
        const strangers = of.filter((id) => !grant?.owners.has(id))
        expect([clientId, grant !== undefined, unapproved, strangers]).toEqual([clientId, true, [], []])
      }

      async function checkActive(
        { aud = [] }: { readonly aud?: string | readonly string[] | undefined },
        [clientId, grant, issuedFor]: readonly [clientId: string, grant: Grant, issuedFor: string],
      ): Promise<void> {
        // An approval that has ended does not come back with another one.
        expect([clientId, grants.get(clientId) === grant]).toEqual([clientId, true])
        expect([clientId, over.has(issuedFor)]).toEqual([clientId, false])
        const { audiences } = (await storage.applications.findClient(clientId))!.application
        expect([aud].flat().filter((each) => !audiences.includes(each))).toEqual([])
      }

      /** As introspection reports them, of all tokens that were issued last. */
      async function checkTokens(): Promise<void> {
        await Promise.all(
          [...tokens].slice(-300).map(async ([value, issued]) => {
            const found = await storage.tokens.find(accessTokenHash(value))
            const described = describeToken(value, found, Date.now())
            if (described.active) await checkActive(described, issued)
          }),
        )
      }

      async function checkAll(): Promise<void> {
        await checkTokens()
        const owned = new Map<string, readonly string[]>()
        for (const client of await storage.applications.page(1_000)) {
          const { application, project } = client
          const isDeleted = application.deletesAtMs !== undefined || project.deletesAtMs !== undefined
          if (application.status !== 'approved' || isDeleted) continue
          if (!owned.has(project.id)) owned.set(project.id, await owners(project.id))
          check(client, owned.get(project.id)!)
        }
      }

      interface Step {
        readonly who: Person
        readonly browser: PortalBrowser
        readonly administrator: boolean
        /** The IDs of the projects that this step may be about. */
        readonly own: readonly string[]
        readonly client: RegisteredClient | undefined
        readonly projectId: string | undefined
      }

      const pathOf = ({ application, project }: RegisteredClient) =>
        `/portal/projects/${project.id}/applications/${application.id}`
      const isDone = ({ status }: PageResponse) => status < 400
      const details = () => ({ name: pick(projectNames)!, organization_name: '', developer_email: '' })
      const settings = () => ({
        ...applicationForm,
        name: pick(['batch', 'server', 'job'])!,
        lifetime: pick(['60', '3600'])!,
      })
      /** `product` is sent several times. */
      const withProducts = (browser: PortalBrowser, path: string, form: Record<string, string>) => {
        const { product: _, ...rest } = form
        const body = new URLSearchParams({ csrf_token: browser.csrfToken, ...rest })
        for (const each of some(products)) body.append('product', each)
        return browser.send(path, { method: 'POST', body })
      }

      function restored(id: string, administrator: boolean, response: PageResponse): boolean {
        if (!isDone(response)) return false
        expect([administrator, taken.has(id)]).not.toEqual([false, true])
        taken.delete(id)
        return true
      }

      const acts: Record<string, (step: Step) => Promise<boolean | undefined>> = {
        createProject: async ({ browser }) => isDone(await browser.post('/portal/new-project', details())),
        renameProject: async ({ browser, projectId }) =>
          projectId === undefined
            ? undefined
            : isDone(await browser.post(`/portal/projects/${projectId}/settings`, details())),
        async deleteProject({ browser, projectId, administrator, who }) {
          if (projectId === undefined) return undefined
          const path = `/portal/projects/${projectId}/deletion`
          const before = await storage.applications.list(projectId)
          const done = isDone(await browser.post(path, { decision: 'delete' }))
          if (!done) return false
          if (administrator) taken.add(projectId)
          const isEnd = administrator && !(await owners(projectId)).includes(who.id)
          for (const client of before) {
            ;(isEnd ? ended : renewed)(client)
            if (isEnd) endSecrets(client)
          }
          return true
        },
        async restoreProject({ browser, projectId, administrator }) {
          if (projectId === undefined) return undefined
          const path = `/portal/projects/${projectId}/deletion`
          return restored(projectId, administrator, await browser.post(path, { decision: 'restore' }))
        },
        async createApplication({ browser, projectId, administrator }) {
          if (projectId === undefined) return undefined
          const form = { ...settings(), project: projectId, submission_id: submissionId() }
          const { status, text } = await withProducts(browser, '/portal/new-application', form)
          if (status !== 200) return false
          const clientId = shown(text, 'client-id')
          secrets.push({ clientId, clientSecret: shown(text, 'client-secret') })
          const client = await storage.applications.findClient(clientId)
          if (administrator) await approved(client!)
          return true
        },
        async createByApi({ projectId }) {
          const { send } = instance()
          if (random() < 0.3)
            return (await send('POST', '/projects', { name: pick(projectNames) })).status < 400
          const form = {
            name: 'api',
            projectId: projectId ?? 'none',
            products: some(products),
            audiences: some(apis),
          }
          const { status, body } = await send('POST', '/applications', form)
          if (status !== 201) return false
          secrets.push(body)
          await approved((await storage.applications.findClient(body.clientId))!)
          return true
        },
        async changeSettings({ browser, client, administrator }) {
          if (!client) return undefined
          const done = isDone(await withProducts(browser, `${pathOf(client)}/settings`, settings()))
          if (done && administrator) {
            const grant = grants.get(client.application.clientId)
            const current = (await storage.applications.findClient(client.application.clientId))!.application
            if (grant)
              grants.set(
                client.application.clientId,
                Object.assign(grant, { products: new Set(current.products) }),
              )
          }
          return done
        },
        async move({ browser, client, administrator, own }) {
          if (!client) return undefined
          const others = random() < 0.8 ? own : (await storage.projects.list()).map(({ id }) => id)
          const to = pick(others) ?? 'none'
          const done = isDone(await browser.post(`${pathOf(client)}/project`, { project: to }))
          if (done && administrator)
            for (const owner of await owners(to)) grants.get(client.application.clientId)?.owners.add(owner)
          return done
        },
        async deleteApplication({ browser, client, administrator, who }) {
          if (!client) return undefined
          const done = isDone(await browser.post(`${pathOf(client)}/deletion`, { decision: 'delete' }))
          if (!done) return false
          if (administrator) taken.add(client.application.id)
          const isEnd = administrator && !(await owners(client.project.id)).includes(who.id)
          ;(isEnd ? ended : renewed)(client)
          if (isEnd) endSecrets(client)
          return true
        },
        async restoreApplication({ browser, client, administrator }) {
          if (!client) return undefined
          const response = await browser.post(`${pathOf(client)}/deletion`, { decision: 'restore' })
          return restored(client.application.id, administrator, response)
        },
        async decide({ browser, client, administrator }) {
          if (!client) return undefined
          const decision = pick(['approve', 'approve', 'decline', 'undo_decline', 'revoke', 'revoke_tokens'])!
          const revision = String(client.application.revision)
          const done = isDone(await browser.post(`${pathOf(client)}/approval`, { decision, revision }))
          if (!done) return false
          if (decision === 'approve' && administrator) await approved(client)
          if (decision === 'revoke') ended(client)
          if (decision === 'revoke_tokens') renewed(client)
          return true
        },
        async rotate({ browser, client }) {
          if (!client) return undefined
          const form = { overlap: pick(['now', 'never'])!, submission_id: submissionId() }
          const { status, text } = await browser.post(`${pathOf(client)}/secrets`, form)
          if (status !== 200) return false
          if (form.overlap === 'now') endSecrets(client)
          secrets.push({
            clientId: client.application.clientId,
            clientSecret: shown(text, 'client-secret'),
          })
          return true
        },
        async changeOwners({ browser, projectId, administrator }) {
          if (projectId === undefined) return undefined
          const { id } = pick(people)!
          const isAdded = random() < 0.6
          const path = `/portal/projects/${projectId}/owners`
          const done = isDone(await browser.post(path, isAdded ? { add: id } : { remove: id }))
          if (done && administrator && isAdded)
            for (const { application } of await storage.applications.list(projectId))
              grants.get(application.clientId)?.owners.add(id)
          return done
        },
        async changeRole({ browser }) {
          const administrators = await Promise.all(people.map(isAdministrator))
          const isPromoted = administrators.filter(Boolean).length < 3 && random() < 0.5
          const path = `/portal/developers/${pick(people)!.id}/role`
          return isDone(await browser.post(path, { administrator: isPromoted ? 'yes' : 'no' }))
        },
        async invite({ browser, who }) {
          const path = random() < 0.5 ? 'invitations' : `developers/${pick(people)!.id}/password-link`
          const { status, text } = await browser.post(`/portal/${path}`, { name: 'somebody' })
          if (status !== 200) return false
          links.push({ by: who, path: new URL(/<code id="link">([^<]+)</.exec(text)?.[1] ?? '').pathname })
          return true
        },
        async openLink() {
          const link = pick(links)
          if (!link) return undefined
          const { status } = await createPortalBrowser(instance().authUrl).get(link.path)
          if (!(await isAdministrator(link.by))) expect(status).toBe(410)
          return status === 200
        },
        async token() {
          const secret = pick(secrets)
          if (!secret) return undefined
          const { status, body } = await requestToken(instance().authUrl, secret as never)
          if (status !== 200) return false
          const client = (await storage.applications.findClient(secret.clientId))!
          check(client, [])
          const grant = grants.get(secret.clientId)!
          for (const product of body.api_product_list_json) expect([...grant.products]).toContain(product)
          await received(secret.clientId, body.access_token)
          return true
        },
        async tryToken({ browser, client }) {
          if (!client) return undefined
          const { clientId } = client.application
          const { status, text } = await browser.post('/portal/reference/token', { client_id: clientId })
          if (status !== 200) return false
          await received(clientId, (JSON.parse(text) as { access_token: string }).access_token)
          return true
        },
        async revokeSecret({ browser, client }) {
          const id = client && pick(client.secrets)?.id
          if (id === undefined) return undefined
          const done = isDone(await browser.post(`${pathOf(client!)}/secrets/${id}/revocation`))
          if (done) over.add(id)
          return done
        },
        async removeApis({ client }) {
          if (!client) return undefined
          const audiences = some(client.application.audiences)
          const path = `/applications/${client.application.clientId}`
          return (await instance().send('PATCH', path, { audiences })).status === 200
        },
        async seeQueue() {
          const clients = await storage.applications.page(1_000)
          queue = clients
            .filter(({ application: { status, requested } }) => status === 'pending' || requested)
            .map(({ application: { revision, clientId } }) => `${revision} ${clientId}`)
          return queue.length > 0
        },
        // Much has happened since, perhaps.
        async approveSeen({ browser, administrator }) {
          if (queue.length === 0) return undefined
          const seen = new Map(queue.map((each) => each.split(' ').toReversed() as [string, string]))
          const before = new Map(
            (await storage.applications.page(1_000)).map((client) => [client.application.clientId, client]),
          )
          const body = new URLSearchParams({ csrf_token: browser.csrfToken, reason: '' })
          for (const each of queue) body.append('selected', each)
          const response = await browser.send('/portal/approvals', { method: 'POST', body })
          for (const [clientId, revision] of seen) {
            const was = before.get(clientId)
            const is = (await storage.applications.findClient(clientId))?.application
            const isAsSeen = administrator && String(was?.application.revision) === revision
            if (!isAsSeen) expect(is).toEqual(was?.application)
            else if (was) await approved(was)
          }
          return isDone(response)
        },
        async purge() {
          const before = await storage.applications.page(1_000)
          await pick([one, other])!.context.storage.projects.purge(Date.now() + 31 * 86_400_000)
          const after = new Set((await storage.applications.page(1_000)).map((each) => each.application.id))
          const gone = before.filter(({ application }) => !after.has(application.id))
          for (const client of gone) {
            over.add(client.application.id)
            endSecrets(client)
            ended(client)
          }
          return gone.length > 0
        },
        async removePerson({ browser, who }) {
          const person = pick(people)!
          if (people.length < 6 || person === who) return undefined
          const done = isDone(await browser.post(`/portal/developers/${person.id}/removal`))
          if (!done) return false
          expect(await isAdministrator(who)).toBe(true)
          over.add(person.id)
          people.splice(people.indexOf(person), 1)
          return true
        },
        async introspect() {
          const [token, [clientId, grant, issuedFor]] = pick([...tokens]) ?? ['', []]
          if (clientId === undefined) return undefined
          const { body } = await introspect(instance().authUrl, token)
          // An approval that has ended does not come back with another one.
          // No token becomes active again: it stays in the list, to be looked at later.
          if (!body.active) return false
          await checkActive(body, [clientId, grant!, issuedFor!])
          return true
        },
      }

      const weighted = Object.keys(acts).flatMap((name) =>
        Array.from({ length: weights[name] ?? 1 }, () => name),
      )
      for (let step = 0; step < steps; step += 1) {
        const administrators = (await storage.developers.list()).filter((each) => each.administrator)
        // They act more often than others, so that much is approved.
        const chosen = random() < 0.3 ? pick(administrators)!.id : pick(people)!.id
        const who = people.find(({ id }) => id === chosen)!
        const projects = await storage.projects.list()
        const clients = await storage.applications.page(1_000)
        const own =
          random() < 0.7 ? await storage.developers.projectIds(who.id) : projects.map(({ id }) => id)
        const name = pick(weighted)!
        // Enough of each for everybody to meet.
        if (name.startsWith('create') && clients.length > 60 && random() < 0.9) continue
        const context = {
          who,
          browser: pick(who.browsers)!,
          administrator: await isAdministrator(who),
          own,
          projectId: pick(own),
          client: pick(clients.filter(({ project }) => own.includes(project.id))),
        }
        const done = await acts[name]!(context)
        if (done) succeeded.set(name, (succeeded.get(name) ?? 0) + 1)
        if (!isLong || step % 5 === 0) await checkAll()
      }
      await checkAll()
      if (isLong) expect(Object.keys(acts).filter((name) => !succeeded.has(name))).toEqual([])
      else expect(succeeded.size).toBeGreaterThan(5)
      if (isLong) process.stdout.write(`seed ${seed}: ${JSON.stringify(Object.fromEntries(succeeded))}\n`)
    },
  )
})

/** The first two are administrators; sessions are those of both instances. */
async function joinAll(
  service: Awaited<ReturnType<typeof administeredService>>,
  otherUrl: string,
): Promise<Person[]> {
  const names = Array.from({ length: 12 }, (_, index) =>
    index < 2 ? `admin-${index}` : `developer-${index}`,
  )
  const browsers = new Map<string, PortalBrowser>()
  for (const name of names) {
    const link = (await service.send('POST', '/invitations')).body.link as string
    const browser = createPortalBrowser(service.authUrl)
    const { pathname } = new URL(link)
    await browser.get(pathname)
    await browser.post(pathname, { name, password })
    await browser.get('/portal/projects')
    browsers.set(name, browser)
  }
  await service.send('POST', '/developers/admin-1/promote')
  const found = await service.context.storage.developers.list()
  return names.map((name) => {
    const browser = browsers.get(name)!
    const elsewhere = createPortalBrowser(otherUrl)
    const { cookies, csrfToken } = browser
    return {
      name,
      id: found.find((each) => each.name === name)!.id,
      browsers: [browser, Object.assign(elsewhere, { cookies, csrfToken })],
    }
  })
}
