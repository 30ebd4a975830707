import { hashPassword } from '../../src/features/sessions/password.ts'
import { postForm, requestToken, application, type ServiceWithContext } from '../test-service.ts'
import { createPasswordLink, inviteDeveloper } from '../../src/features/people/acts.ts'
import { addTrustedIssuer } from '../../src/features/trusted-issuers/acts.ts'
import { createApplication } from '../../src/features/applications/acts.ts'
import { purgeAudit } from '../../src/features/audit/acts.ts'
import { createProject, deleteProject } from '../../src/features/projects/acts.ts'
import { createOnce } from '../../src/storage/submission-storage.ts'

/** The developers of the filled database, in the order in which they joined. */
export const people = ['ada', 'grace']

const by = { actorType: 'api' } as const
const later = Date.UTC(2100, 0)

/** Uses a service until every table of its database has rows. */
export async function fillEveryTable({ authUrl, context }: ServiceWithContext): Promise<void> {
  const { storage, activity, clock, perform } = context
  const { developers, sessions, assertions } = storage
  await requestToken(authUrl, { ...application, clientSecret: 'wrong' })
  await assertions.use('an assertion', later)
  const nowMs = clock.now() + 1
  await perform(by, (act) => purgeAudit(act, { beforeMs: nowMs, nowMs }))

  for (const name of people) {
    const { id } = await perform(by, (act) => inviteDeveloper(act, { administrator: name === people[0] }))
    await developers.join(
      {
        id: `id of ${name}`,
        name,
        passwordHash: await hashPassword('correct horse battery'),
        administrator: name === people[0],
        createdAtMs: clock.now(),
      },
      id,
      clock.now(),
    )
  }
  const [ada, grace] = await developers.list()
  if (!ada || !grace) throw new Error('Two developers were expected.')
  await perform(by, (act) => inviteDeveloper(act, { administrator: false }))
  await perform(by, (act) => createPasswordLink(act, grace))
  const identity = { issuer: 'https://id.example.com', subject: 'ada' }
  await developers.addIdentity(ada.id, identity)
  await sessions.open({
    hash: 'a session',
    developerId: ada.id,
    expiresAtMs: later,
    provider: { ...identity, idToken: 'encrypted' },
  })

  const details = { organizationName: 'Example', developerEmail: 'dev@example.com' }
  const project = await perform(by, (act) => createProject(act, { name: 'Billing', ...details }, grace.id))
  const deleted = await perform(by, (act) => createProject(act, { name: 'Deleted', ...details }, grace.id))
  await perform(by, (act) => deleteProject(act, deleted, true))
  const settings = { products: ['sms'], scopes: ['read'], level: 'gold', responseForm: 'products' } as const
  const invoices = {
    projectId: project.id,
    status: 'pending',
    name: 'invoices',
    lifetimeSeconds: 600,
    tokenFormat: 'opaque',
    audiences: [],
    dpop: 'allowed',
    ...settings,
  } as const
  const { application: pending } = await perform(by, (act) =>
    createOnce(act, 'a form', () => createApplication(act, invoices)),
  )
  const trusted = {
    issuer: 'https://ci.example.com',
    audiences: [],
    detectReplay: true,
    rules: [{ clientId: pending.clientId, claims: { sub: 'repo:example/*' } }],
  }
  await perform(by, (act) => addTrustedIssuer(act, trusted))
  await storage.products.set({ name: 'sms', description: 'Sends messages' })
  await storage.scopes.set({ name: 'read', audience: 'https://api.example.com', description: 'Reads' })
  await storage.database.query
    .insertInto('removedHashKeys')
    .values({ keyId: 'an old key', removedAtMs: clock.now() })
    .execute()
  await postForm(`${authUrl}/oauth/introspect`, { token: 'unknown' })
  await storage.probe()
  await activity.flush()
}
