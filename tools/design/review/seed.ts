import { createHash, randomUUID } from 'node:crypto'
import { nameColumns } from '../../../packages/token-service/src/storage/folded-name.ts'
import { openSeeded, type Row } from './database.ts'
import { createRandom, firstNames, hostile, lastNames, places, roles, subjects } from './names.ts'

export interface Sizes {
  readonly applications: number
  readonly projects: number
  readonly people: number
  readonly pending: number
  readonly audit: number
}

export const large: Sizes = {
  applications: 10_000,
  projects: 400,
  people: 2_000,
  pending: 4_000,
  audit: 200_000,
}
export const small: Sizes = { applications: 1, projects: 1, people: 1, pending: 0, audit: 3 }

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

/**
 * Fills a database that the service has migrated, in which the first administrator has joined. Some applications are
 * used, some expire, some are declined; most names are plain, and some of every kind in `hostile`.
 */
export async function seed(location: string, sizes: Sizes, nowMs = Date.now()): Promise<void> {
  const database = await openSeeded(location)
  const random = createRandom()
  const pick = <Item>(items: readonly Item[]) => items[random(items.length)] as Item
  const products = ['speech-to-text', 'sms', ...subjects.map((subject) => `${subject}-data`)]
  const scopes = subjects.flatMap((subject) => [`${subject}:read`, `${subject}:write`])
  await database.insert(
    'products',
    products.map((name, index) => ({ name, description: index % 3 === 2 ? null : about(name) })),
  )
  await database.insert(
    'scopes',
    scopes.map((name, index) => ({
      name,
      description: index % 4 === 3 ? null : about(name),
      audience: index % 2 === 0 ? null : `https://${name.split(':')[0]}.api.example.com/v1`,
    })),
  )

  const named = (index: number, special: readonly string[], plain: () => string) => special[index] ?? plain()

  const people = range(sizes.people).map((index) => ({
    id: randomUUID(),
    name: named(index, hostile.people, () => `${pick(firstNames)}.${pick(lastNames)}.${index}`),
    password_hash: '',
    administrator: Number(index % 200 === 3),
    created_at_ms: nowMs - random(900 * day),
  }))
  await database.insert('developers', people.map(withNames))

  const projects = range(sizes.projects).map((index) => ({
    id: randomUUID(),
    name: named(index, hostile.projects, () => `${title(pick(subjects))} ${pick(places)} ${index}`),
    organization_name: pick(['Example GmbH', 'Example K.K.', 'Exempla SA']),
    developer_email: `team-${index}@example.com`,
    created_at_ms: nowMs - random(800 * day),
    deletes_at_ms: index % 90 === 89 ? nowMs + 20 * day : null,
  }))
  await database.insert('projects', projects.map(withNames))
  await database.insert(
    'memberships',
    projects.flatMap(({ id }, index) =>
      range(index % 60 === 5 ? 12 : 1 + random(3)).map((owner) => ({
        developer_id: people[(index * 13 + owner) % people.length]!.id,
        project_id: id,
      })),
    ),
  )

  const applications = range(sizes.applications).map((index) => {
    const own = [pick(products), ...(index % 3 === 0 ? [pick(products)] : [])]
    const [application, changes] = [sizes.pending * 0.7, sizes.pending]
    const waits = shuffled(index, sizes.applications)
    const status = waits < application ? 'pending' : index % 100 === 99 ? 'revoked' : 'approved'
    const approval = {
      name: named(index, hostile.applications, () => `${pick(subjects)}-${pick(roles)}-${index}`),
      level: pick(['', '', 'gold', 'silver']),
      organization_name: 'Example GmbH',
      developer_email: 'team@example.com',
    }
    const requested = waits >= application && waits < changes && status === 'approved'
    const isAwaiting = status === 'pending' || requested
    const created = nowMs - random((status === 'pending' ? 40 : 700) * day)
    const requestedAt = requested ? nowMs - random(40 * day) : created
    return {
      ...approval,
      id: randomUUID(),
      project_id: projects[index < 40 ? index % Math.min(8, projects.length) : random(projects.length)]!.id,
      client_id: randomUUID(),
      status,
      products: JSON.stringify(unique(own)),
      scopes: JSON.stringify(index % 2 === 0 ? unique([pick(scopes), pick(scopes), pick(scopes)]) : []),
      response_form: 'products',
      lifetime_seconds: pick([3600, 3600, 86_400, 300]),
      token_format: index % 10 === 1 ? 'jwt' : 'opaque',
      dpop: index % 10 === 1 ? 'required' : 'allowed',
      audiences: index % 10 === 1 ? '["https://api.example.com"]' : '[]',
      created_at_ms: created,
      requested_at_ms: requestedAt,
      requested: requested
        ? JSON.stringify({
            name: approval.name,
            level: approval.level,
            organizationName: approval.organization_name,
            developerEmail: approval.developer_email,
            products: unique([...own, pick(products), pick(products)]),
            scopes: index % 2 === 0 ? [pick(scopes)] : [],
            lifetimeSeconds: 604_800,
            tokenFormat: 'opaque',
            audiences: [],
          })
        : null,
      review: isAwaiting
        ? JSON.stringify({
            requestedAtMs: requestedAt,
            ...(index % 9 === 0 && { note: 'Needed for the launch on Monday.\nThank you!' }),
          })
        : null,
      keys: '[]',
      claims: '{}',
      revision: 0,
      token_generation: 0,
      deletes_at_ms: index % 500 === 499 ? nowMs + 12 * day : null,
    }
  })
  await database.insert('applications', applications.map(withNames))

  const secrets = applications.map(({ id, client_id, created_at_ms }, index) => ({
    id: randomUUID(),
    owner_id: id,
    key_id: 'seeded',
    hash: createHash('sha256').update(client_id).digest('hex'),
    prefix: createHash('sha256').update(id).digest('base64url').slice(0, 6),
    created_at_ms,
    expires_at_ms:
      index % 32 === 7 ? nowMs + (1 + random(28)) * day : index % 5 === 0 ? nowMs + 200 * day : null,
  }))
  await database.insert('secrets', secrets)

  const used = applications.filter(({ status }, index) => status !== 'pending' && index % 5 !== 4)
  const uses = used.map((application, index) => ({
    application,
    atMs: index % 4 === 0 ? nowMs - random(400 * day) : nowMs - random(20 * hour),
  }))
  const secretOf = new Map(secrets.map(({ owner_id, id }) => [owner_id, id]))
  await database.insert(
    'last_uses',
    uses.flatMap(({ application: { id }, atMs }) => [
      { id, at_ms: atMs },
      { id: secretOf.get(id) ?? '', at_ms: atMs },
    ]),
  )

  const thisHour = nowMs - (nowMs % hour)
  const usage = new Map<string, number>()
  const add = (client: string, hourMs: number, outcome: string, requests: number) => {
    const key = JSON.stringify([client, hourMs, outcome])
    usage.set(key, (usage.get(key) ?? 0) + requests)
  }
  const count = (client: string, ...rest: [hourMs: number, outcome: string, requests: number]) => {
    for (const each of [client, '']) add(each, ...rest)
  }
  let others = 0
  for (const [index, { application, atMs }] of uses.entries()) {
    if (atMs < nowMs - day) continue
    const hours = index < 60 ? 30 * 24 : 24
    const level = 1 + random(index % 50 === 0 ? 60_000 : 90)
    const phase = random(24)
    if (hours === 24) others += level
    for (const back of range(hours)) {
      const swing = 1 + Math.sin(((back + phase) / 24) * 2 * Math.PI)
      const requests = Math.round(level * swing * (0.7 + random(60) / 100)) + 1
      count(application.client_id, thisHour - back * hour, 'issued', requests)
      if ((index % 7 === 0 || index < 40) && back < 9)
        count(application.client_id, thisHour - back * hour, 'invalid_client', 1 + random(level))
    }
  }
  // What the others did before the last day is in the sum alone: a row for each hour of each would be millions.
  for (const back of range(29 * 24).map((each) => each + 24)) {
    const requests = Math.round(others * (0.7 + random(60) / 100))
    for (const [outcome, part] of [
      ['issued', 1],
      ['invalid_client', random(40) / 1000],
    ] as const)
      add('', thisHour - back * hour, outcome, Math.round(requests * part))
  }
  await database.insert(
    'usage',
    [...usage].map(([key, requests]) => {
      const [client_id, hour_ms, outcome] = JSON.parse(key) as [string, number, string]
      return { client_id, hour_ms, outcome, requests }
    }),
  )
  await database.insert(
    'token_requests',
    uses.slice(0, 40).flatMap(({ application }, index) =>
      range(40).map((back) => ({
        client_id: application.client_id,
        minute_ms: nowMs - (nowMs % minute) - back * minute,
        outcome: back % 6 === 0 ? 'invalid_client' : 'issued',
        address: index % 2 === 0 ? `192.0.2.${back}` : `2001:db8:85a3:8d3:1319:8a2e:370:${7300 + back}`,
        at_ms: nowMs - back * minute,
        count: 1 + random(9),
      })),
    ),
  )

  if (sizes.applications > 1) {
    const rule = (index: number, claims: object) => ({ clientId: applications[index]!.client_id, claims })
    const trusted = [
      [
        'github',
        'https://token.actions.githubusercontent.com',
        [
          rule(20, { repository: 'example/payments', ref: 'refs/heads/main' }),
          rule(21, { repository: 'example/payments', environment: 'production' }),
          rule(2, { repository: 'example/a-repository-whose-name-was-not-chosen-for-narrow-columns' }),
          rule(0, { repository_owner: 'example-org' }),
          rule(1, { sub: 'repo:example/legacy:*' }),
        ],
      ],
      [
        'cluster',
        'https://kubernetes.default.svc.cluster.local',
        [
          rule(22, { sub: 'system:serviceaccount:orders:api' }),
          rule(23, { sub: 'system:serviceaccount:billing:*' }),
        ],
      ],
      [
        'cloud',
        'https://accounts.google.com',
        [rule(24, { sub: '104857392847561029384', google: { compute_engine: { project_id: 'example' } } })],
      ],
    ] as const
    await database.insert(
      'trusted_issuers',
      trusted.map(([id, issuer, rules]) => ({
        id,
        issuer,
        jwks_url: null,
        audiences: '[]',
        detect_replay: 0,
        rules: JSON.stringify(rules),
        configured: 0,
        created_at_ms: nowMs - 90 * day,
      })),
    )
    await database.insert(
      'resource_servers',
      [...hostile.projects, 'Orders API', 'Billing API'].map((name, index) => ({
        id: `resource-server-${index}`,
        name,
        client_id: `api-${index}`,
        created_at_ms: nowMs - index * 40 * day,
        keys: '[]',
        revision: 0,
        audiences:
          index % 2 === 0 ? null : '["https://orders.api.example.com/v1","https://billing.example.com"]',
      })),
    )
    await database.insert(
      'invitations',
      hostile.people.map((name, index) => ({
        hash: `invitation-${index}`,
        administrator: index % 4 === 0 ? 1 : 0,
        expires_at_ms: nowMs + (1 + index) * 7 * hour,
        name: index === 3 ? null : name,
      })),
    )
  }

  const actors = people.slice(0, 60)
  const subjectsOf = applications.slice(0, 900)
  await database.insert(
    'audit',
    range(sizes.audit).map((index): Row => {
      const event = pick(auditEvents)
      const actor = pick(actors)
      return {
        at_ms: nowMs - (sizes.audit - index) * 3 * minute,
        event,
        actor_type: event === 'request_rejected' ? null : 'person',
        actor: event === 'request_rejected' ? null : actor.name,
        actor_id: event === 'request_rejected' ? null : actor.id,
        client_id: event.startsWith('log') ? null : pick(subjectsOf).client_id,
        address: `198.51.100.${random(250)}`,
        detail: event === 'logged_in' ? 'password' : event === 'request_rejected' ? 'invalid_client' : null,
        changes:
          event === 'application_changed'
            ? JSON.stringify({
                lifetimeSeconds: { from: 3600, to: 86_400 },
                name: { from: 'old', to: 'new' },
              })
            : null,
        count: event === 'request_rejected' ? 1 + random(5000) : 1,
      }
    }),
  )
  await database.close()
}

const auditEvents = [
  'application_created',
  'application_approved',
  'application_changed',
  'secret_rotated',
  'secret_revoked',
  'logged_in',
  'logged_out',
  'request_rejected',
  'request_declined',
] as const

function withNames<Named extends { readonly name: string }>(row: Named) {
  const { foldedName, sortName } = nameColumns(row.name)
  return { ...row, folded_name: foldedName, sort_name: sortName }
}

const about = (name: string) =>
  `What others can do with ${name.replaceAll(/[-:]/g, ' ')}, in one sentence that is long`
const range = (length: number) => Array.from({ length }, (_, index) => index)
const unique = <Item>(items: readonly Item[]) => [...new Set(items)]
const title = (text: string) => text.replace(/^./, (first) => first.toUpperCase())
/** Another number below `count` for each: which applications wait does not follow their order. */
const shuffled = (index: number, count: number) => (index * 7919) % count
