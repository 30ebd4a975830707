import { DatabaseSync } from 'node:sqlite'
import { Client } from 'pg'
import { expect, vi } from 'vitest'
import { createPortalBrowser, createProject, password } from '../portal/portal-browser.ts'
import { listOrders } from '../../src/features/search/listings.ts'
import type { Storage } from '../../src/features/context.ts'
import { application, introspect, requestToken, type AdministeredService } from '../test-service.ts'

export interface DatabaseSize {
  readonly projects: number
  /** Of each project; each has a secret. */
  readonly applications: number
  /** Rows of each application. */
  readonly usage: number
}

/** Statements, for every kind of database, that fill the tables which grow; the names are unlike those of the tests. */
export function fillStatements({ projects, applications, usage }: DatabaseSize): string[] {
  const rows = (table: string, columns: string, count: number, values: string) =>
    `insert into ${table} (${columns}) with recursive n(i) as (select 0 union all select i + 1 from n where i < ${count - 1}) select ${values} from n`
  const all = projects * applications
  const hour = 3_600_000
  return [
    rows(
      'projects',
      'id, name, name_key, folded_name, sort_name, organization_name, developer_email, created_at_ms',
      projects,
      `'p' || i, 'Filler ' || i, 'filler ' || i, 'filler ' || i, 'filler ' || i, 'Example', 'a@example.com', i`,
    ),
    rows(
      'applications',
      'id, project_id, name, folded_name, sort_name, client_id, status, products, scopes, level, organization_name, developer_email, response_form, lifetime_seconds, token_format, audiences, created_at_ms, requested_at_ms, keys, claims, revision, token_generation',
      all,
      `'a' || i, 'p' || (i / ${applications}), 'Filler ' || i, 'filler ' || i, 'filler ' || i, 'filler-' || i, case when i % 50 = 0 then 'pending' else 'approved' end, '[]', '[]', '', 'Example', 'a@example.com', 'products', 3600, 'opaque', '[]', i, i, '[]', '{}', 0, 0`,
    ),
    rows(
      'secrets',
      'id, owner_id, key_id, hash, prefix, created_at_ms, expires_at_ms',
      all,
      `'s' || i, 'a' || i, 'k', 'h' || i, 'abcd', i, ${Date.now()} + cast(i + 1 as bigint) * ${hour}`,
    ),
    rows(
      'tokens',
      'hash, application_id, secret_id, generation, products, scopes, issued_at_ms, expires_at_ms',
      all,
      `'t' || i, 'a' || i, 's' || i, 0, '[]', '[]', ${Date.now()}, ${Date.now() + hour}`,
    ),
    rows('last_uses', 'id, at_ms', all, `'s' || i, ${Date.now()} - i`),
    rows('last_uses', 'id, at_ms', all, `'a' || i, ${Date.now()} - i`),
    rows(
      'usage',
      'client_id, hour_ms, outcome, requests',
      all * usage,
      `'filler-' || (i / ${usage}), cast(${Math.floor(Date.now() / hour)} - i % ${usage} as bigint) * ${hour}, case when i % 50 = 0 then 'wrong_secret' else 'issued' end, 1`,
    ),
    `insert into usage select '', hour_ms, outcome, sum(requests) from usage where client_id like 'filler-%' group by hour_ms, outcome`,
    rows(
      'token_requests',
      'client_id, minute_ms, outcome, address, at_ms, count',
      all,
      `'filler-' || i, 60000, 'issued', '192.0.2.1', ${Date.now()} - i, 1`,
    ),
    rows(
      'audit',
      'at_ms, event, actor_type, actor, client_id, count',
      all,
      `i, 'filler-' || (i % 50), 'person', 'filler-' || (i / 100), 'filler-' || i, 1`,
    ),
    rows(
      'developers',
      'id, name, folded_name, sort_name, password_hash, administrator, created_at_ms',
      projects,
      `'d' || i, 'filler-' || i, 'filler-' || i, 'filler-' || i, '', 0, i`,
    ),
    rows('memberships', 'developer_id, project_id', projects, `'d' || i, 'p' || i`),
    rows(
      'sessions',
      'hash, developer_id, expires_at_ms',
      projects,
      `'h' || i, 'd' || i, ${Date.now() + hour}`,
    ),
    rows('failures', 'key, count, resets_at_ms', projects, `'k' || i, 1, ${Date.now()} + i`),
    'analyze',
  ]
}

export interface Statement {
  readonly text: string
  /** Those of PostgreSQL. */
  readonly values: readonly unknown[]
}

/** The pages of an administrator that list or count something. */
const pages = [
  '',
  '/projects',
  '/applications',
  '/applications?q=demo',
  '/expiring-secrets',
  '/approvals',
  '/audit',
  '/audit?q=ada&group=people',
  '/reference',
  '/get-started',
  '/developers',
].map((page) => `/portal${page}`)

export interface Exercise {
  readonly statements: readonly Statement[]
  /** Opens each page of an administrator again; resolves with the slowest, and how many milliseconds it took. */
  readonly openPages: () => Promise<readonly [page: string, ms: number]>
}

/** Records the statements that reading, changing or deleting rows sends to a database, until it is told to stop. */
function recordStatements(): () => readonly Statement[] {
  const statements = new Map<string, Statement>()
  const add = (text: unknown, values: readonly unknown[] = []) => {
    if (typeof text === 'string' && /^(select|update|delete)/.test(text))
      statements.set(text, { text, values })
  }
  const prepare = vi.spyOn(DatabaseSync.prototype, 'prepare')
  const query = vi.spyOn(Client.prototype, 'query')
  return () => {
    for (const [text] of prepare.mock.calls) add(text)
    for (const [first, second] of query.mock.calls as unknown[][]) {
      const { text = first, values = second } = Object(first) as { text?: unknown; values?: unknown }
      add(text, values as unknown[] | undefined)
    }
    prepare.mockRestore()
    query.mockRestore()
    return [...statements.values()]
  }
}

/** Reads a page of every list in every order; returns the statements that sort. */
export async function listInEveryOrder({ listings }: Storage): Promise<readonly Statement[]> {
  const stop = recordStatements()
  for (const status of ['awaiting', 'pending', 'changes'] as const)
    for (const offset of [0, 100])
      await listings.applications({ status, order: 'requested', limit: 50, offset })
  for (const order of listOrders) {
    for (const offset of [0, 100]) await listings.applications({ order, limit: 50, offset })
    if (order === 'used' || order === '-used') continue
    await listings.projects({ order, limit: 50, offset: 50 })
    await listings.people({ order, limit: 50, offset: 50 })
  }
  return stop().filter(({ text }) => text.includes(' limit '))
}

/** Calls the endpoints, the portal and the administrators' API; returns their statements. */
export async function exercise(service: AdministeredService): Promise<Exercise> {
  const stop = recordStatements()
  const { authUrl, send, context } = service
  const { body } = await requestToken(authUrl)
  await introspect(authUrl, body.access_token)
  const browser = createPortalBrowser(authUrl)
  const { pathname } = new URL((await service.createSetupLink()) ?? '')
  await browser.get(pathname)
  await browser.post(pathname, { name: 'ada', password })
  await browser.get('/portal/projects')
  const project = await createProject(browser)
  const { project: configured, application: one } = (await context.storage.applications.findClient(
    application.clientId,
  ))!
  const path = `/portal/projects/${configured.id}/applications/${one.id}`
  const paths = [...pages, project, path, `${path}/credentials`, `${path}/settings`]
  for (const page of paths) expect([page, (await browser.get(page)).status < 400]).toEqual([page, true])
  for (const page of ['/applications', `/applications/${one.clientId}`, '/audit', '/audit?event=logged_in'])
    expect((await send('GET', page)).status).toBe(200)
  await context.storage.listings.expiringSecrets([1, 2], { usedSinceMs: 1, limit: 1, offset: 0 })
  await context.storage.projects.purge(0)
  await context.storage.audit.hasBefore(1)
  await context.storage.audit.after(0, 1)
  await context.storage.audit.purge({ beforeMs: 1, nowMs: 1 })
  await context.activity.flush()
  const statements = stop()
  expect(statements.length).toBeGreaterThan(30)
  return {
    statements,
    async openPages() {
      let slowest: readonly [string, number] = ['', 0]
      for (const page of pages) {
        const startMs = performance.now()
        expect([page, (await browser.get(page)).status < 400]).toEqual([page, true])
        const ms = performance.now() - startMs
        if (ms > slowest[1]) slowest = [page, ms]
      }
      return slowest
    },
  }
}

// Tables with a row for each application, token, request, secret or act; the others have few rows.
const large =
  'applications|projects|secrets|tokens|usage|token_requests|audit|last_uses|sessions|failures|memberships'
// Reads the whole table: the check of keys at the start, the totals of lists and of their facets, a search within names, the newest entries.
const exempt =
  /^select distinct |^select count\(case when |^select count\(\*\)(?!.*('pending'|from "secrets"))|(?:instr|strpos)\(|from "audit" where (1 = 1|"event" in .*) order by "id" desc limit/

/** Those of the statements that read a whole large table. */
export function scansInSqlite(file: string, statements: readonly Statement[]): string[] {
  const sqlite = new DatabaseSync(file)
  const scan = new RegExp(`^SCAN (${large})(?!.* USING (COVERING )?INDEX)`)
  const scans = statements.filter(({ text }) => {
    if (exempt.test(text)) return false
    const plan = sqlite.prepare(`explain query plan ${text}`).all()
    return plan.some(({ detail }) => scan.test(String(detail)))
  })
  sqlite.close()
  return scans.map(({ text }) => text)
}

/** The same in PostgreSQL, whose plans depend on how much is in the tables: it scans only if there is no other way. */
export async function scansInPostgres(url: string, statements: readonly Statement[]): Promise<string[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query('set enable_seqscan = off')
  const scan = new RegExp(`Seq Scan on (${large})\\b`)
  const scans: string[] = []
  for (const { text, values } of statements) {
    if (exempt.test(text)) continue
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain ${text}`, [...values])
    if (rows.some((row) => scan.test(row['QUERY PLAN']))) scans.push(text)
  }
  await client.end()
  return scans
}

/** Those of the statements that sort rows, instead of reading them in the order of an index. */
export function sortsInSqlite(file: string, statements: readonly Statement[]): string[] {
  const sqlite = new DatabaseSync(file)
  const sorts = statements.filter(({ text }) => {
    const plan = sqlite.prepare(`explain query plan ${text}`).all()
    return plan.some(({ detail }) => String(detail).startsWith('USE TEMP B-TREE FOR ORDER BY'))
  })
  sqlite.close()
  return sorts.map(({ text }) => text)
}

/** The same in PostgreSQL, which sorts here only if there is no other way. */
export async function sortsInPostgres(url: string, statements: readonly Statement[]): Promise<string[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query('set enable_seqscan = off')
  await client.query('set enable_sort = off')
  const sorts: string[] = []
  for (const { text, values } of statements) {
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain ${text}`, [...values])
    if (rows.some((row) => /\bSort\b/.test(row['QUERY PLAN']))) sorts.push(text)
  }
  await client.end()
  return sorts
}
