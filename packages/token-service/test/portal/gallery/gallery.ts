import fastify, { type FastifyInstance } from 'fastify'
import { html, type SafeHtml } from '@remix-run/html-template'
import { requestChart } from '../../../src/portal/layout/chart.ts'
import { code, copyable, shortId } from '../../../src/portal/layout/copyable.ts'
import { dialog } from '../../../src/portal/layout/dialog.ts'
import { checkboxes, choice, csrfInput, field, textArea } from '../../../src/portal/layout/form.ts'
import { list, listState, named, names, note, state, type Column } from '../../../src/portal/layout/list.ts'
import { dangerSection, moreMenu } from '../../../src/portal/layout/menus.ts'
import { scopeList, scopePicker } from '../../../src/features/applications/scope-picker.ts'
import { picker } from '../../../src/portal/layout/picker.ts'
import { page, type Viewer } from '../../../src/portal/layout/page.ts'
import { tabs } from '../../../src/portal/layout/tabs.ts'
import { relativeTime, time } from '../../../src/portal/layout/time.ts'
import { createPaths } from '../../../src/portal/paths.ts'
import { pageHeaders, sendStaticFile } from '../../../src/portal/static-files.ts'

const long =
  'an-application-with-a-name-so-long-that-it-cannot-fit-into-any-column-of-any-table-on-any-screen-that-you-o'

/** Names in both directions: each page has those of one. */
const hostile = {
  ltr: [
    'payments-gateway',
    long,
    '音声文字起こしサービスのためのとても長い名前を持つアプリケーション',
    '🦊🎙️ fox-recorder 👩‍🚀',
    '<script>alert(1)</script> & "quotes"',
    'Émile Ångström Straße',
    'Служба распознавания речи для колл-центров',
    'ห้องปฏิบัติการแปลงเสียงเป็นข้อความสำหรับศูนย์บริการลูกค้า',
    'वाक् पहचान सेवा',
    '음성 인식 서비스',
    'ḩ̷̛̗ȩ̸̛l̶̢̎l̸̨̈ơ̷̢ marks above and below',
    'x',
  ],
  rtl: [
    'خدمة تحويل الكلام إلى نص',
    'خدمة تحويل الكلام إلى نص لجميع مراكز الاتصال في الشرق الأوسط وشمال أفريقيا وتركيا',
    'שירות תמלול',
    'منصة-خدمة-العملاء-v2',
    'شركة “Example” 🚀',
    'ـــــــــــــــــــــــــــــــــــــــــــــــــــــــــــــــــ',
    'لُغَةٌ عَرَبِيَّةٌ مُشَكَّلَةٌ',
    'x',
  ],
} as const

export type Direction = keyof typeof hostile

const nowMs = Date.UTC(2026, 2, 1, 12)
const hour = 3_600_000

interface Thing {
  readonly name: string
  readonly index: number
}

const columns: readonly Column<Thing>[] = [
  {
    label: 'Application',
    kind: 'name',
    order: 'name',
    cell: ({ name }) => named({ name, href: '#', below: `Project of ${name}`, belowHref: '#' }),
  },
  {
    label: 'Status',
    kind: 'status',
    cell: ({ index }) =>
      [
        state('success', 'Approved'),
        html`${state('success', 'Approved')}${note('Secret expires in 2 days')}`,
        state('warning', 'Pending approval'),
        state('danger', 'Revoked'),
      ][index % 4] ?? '',
  },
  {
    label: 'Client ID',
    kind: 'id',
    leaves: 3,
    cell: ({ index }) => shortId(`id-${index}`, '0b7a16a4-93d6-4bd9-a6a8-8af1b6b7fd4e', 'client ID'),
  },
  { label: 'Requests, 24 hours', kind: 'usage', leaves: 2, cell: () => '1,482,119' },
  {
    label: 'Last used',
    kind: 'time',
    leaves: 1,
    order: '-used',
    cell: ({ index }) => relativeTime(nowMs - index * 40 * hour, nowMs),
  },
  {
    label: 'Actions',
    kind: 'menu',
    cell: ({ name, index }) =>
      moreMenu({
        id: `more-${index}`,
        about: name,
        items: [removal(index, name), html`<a href="#">Move to another project</a>`],
      }),
  },
]

const approvals: readonly Column<Thing>[] = [
  {
    label: html`<input type="checkbox" aria-label="Select all" />`,
    kind: 'select',
    cell: ({ name }) => html`<input type="checkbox" aria-label="Select ${name}" />`,
  },
  {
    label: 'Application',
    kind: 'name',
    cell: ({ name }) =>
      named({ name, href: '#', below: html`<span class="narrow">sms, 7 days · </span>${name} · mia, noah` }),
  },
  {
    label: 'Adds',
    kind: 'text',
    leaves: 1,
    cell: ({ name }) => names([name, 'speech-to-text', 'claims:read', '7 days', 'JWTs'], 4, 'read'),
  },
  { label: 'Requested', kind: 'time', leaves: 2, cell: () => relativeTime(nowMs - 999 * 24 * hour, nowMs) },
  {
    label: 'Decision',
    kind: 'decision',
    cell: () =>
      html`<button class="small outline">Approve</button> <a class="button small ghost" href="#">Decline</a>`,
  },
]

const people: readonly Column<Thing>[] = [
  { label: 'Name', kind: 'name', cell: ({ name }) => named({ name, href: '#', below: 'You' }) },
  { label: 'Role', kind: 'role', cell: () => 'Administrator' },
  { label: 'Projects', kind: 'text', leaves: 2, cell: ({ name }) => names([name, 'Speech', 'x']) },
  { label: 'Logged in', kind: 'date', leaves: 1, cell: () => time(nowMs) },
  {
    label: 'Withdraw',
    kind: 'end',
    cell: ({ name }) =>
      html`<button class="small outline">Withdraw<span class="visually-hidden"> ${name}</span></button>`,
  },
]

const removal = (index: number, name: string) =>
  dialog({
    id: `remove-${index}`,
    label: html`Remove<span class="visually-hidden"> ${name}</span>`,
    style: 'ghost',
    title: `Remove ${name}?`,
    body: html`<p>Clients that use this secret will stop getting tokens.</p>`,
    action: '#',
    confirm: 'Remove',
    csrfToken: 'token',
    danger: true,
  })

/** As those of a large provider: URLs, most of which begin alike. */
function urlScope(index: number): string {
  const api = ['billing', 'call-recording', 'subscription'][index % 3]
  return `https://api.example.com/auth/${api}.${index % 2 === 0 ? 'read' : 'administration-of-every-tenant'}.${index}`
}

/** Every component of the portal, with names that break pages. */
function galleryPage(viewer: Viewer, direction: Direction): SafeHtml {
  const things = hostile[direction].map((name, index) => ({ name, index }))
  const [first = '', second = ''] = hostile[direction]
  const many = [...hostile[direction], 'orders:read', 'orders:write', 'billing:read']
  const scopes = Array.from({ length: 176 }, (_, index) => urlScope(index))
  const browsing = {
    path: '/gallery',
    state: listState(
      { order: '-used', page: '7', show: 'pending' },
      { orders: ['name', '-used'], facets: ['pending'] },
    ),
    total: 10_000,
    noun: 'applications',
    search: 'Name, project, owner, product or client ID',
    orders: [
      ['-used', 'Last used'],
      ['name', 'Name'],
    ] as const,
    facets: [
      { id: '', label: 'All', count: 10_000 },
      { id: 'approved', label: 'Approved', count: 7100 },
      { id: 'pending', label: 'Pending', count: 2800 },
      { id: 'changes', label: 'Changes requested', count: 1200 },
      { id: 'revoked', label: 'Revoked', count: 100 },
      { id: 'expires', label: 'Secret expires soon', count: 312 },
      { id: 'unused', label: 'Unused for 90 days', count: 1904 },
    ],
  }
  const form = {
    values: { name: second, email: 'ada@example', level: 'gold', text: '{ "claims": { "sub": "repo:*" } }' },
    errors: { email: 'Enter an email address, such as ada@example.com.' },
    chosen: ['sms'],
  }
  const bars = Array.from({ length: 24 }, (_, index) => ({
    issued: 900 + 40 * index,
    failed: index % 5 === 0 ? 0 : 12 * (index % 7),
    from: time(nowMs - (24 - index) * hour),
    title: `Hour ${index}`,
    tick: index % 4 === 0 ? `${String(index).padStart(2, '0')}:00` : undefined,
  }))
  const body = html`<div class="notice" data-variant="success" role="status">The settings were saved.</div>
    <div class="notice bar" data-variant="danger">
      <p>An administrator declined ${second}: <span class="lines">not in production</span></p>
      <button class="small outline">Undo</button>
    </div>
    <nav class="page-tabs" aria-label="Application">
      <ul>
        <li><a href="#" aria-current="page">Overview</a></li>
        <li><a href="#">Credentials</a></li>
        <li><a href="#">Requests</a></li>
        <li><a href="#">Settings</a></li>
      </ul>
    </nav>
    <section>${list(columns, things, { label: 'Applications', browsing })}</section>
    <section>
      <h2>Approvals</h2>
      ${list(approvals, things, { label: 'Approvals' })}
    </section>
    <section>
      <h2>People</h2>
      ${list(people, things, { label: 'People' })}
    </section>
    <section>
      <h2>Nothing matches</h2>
      ${list(columns, [], { label: 'Applications', browsing: { ...browsing, noun: 'projects', total: 0, facets: [] } })}
    </section>
    <section>
      <h2>Nothing yet</h2>
      ${list(columns, [], {
        label: 'Applications',
        empty: html`<div class="empty">
          <h3>No applications</h3>
          <p class="muted">Each program that calls APIs has its own client ID and secrets.</p>
          <a class="button" href="#">Get your first token</a>
        </div>`,
      })}
    </section>
    <section>
      <h2>Buttons</h2>
      <p class="actions">
        <button>Primary</button> <button class="outline">Outline</button> <button class="ghost">Ghost</button>
        <button class="small">Small</button> <button class="small outline">Small outline</button>
        <button class="outline destructive">Delete</button> <button data-variant="danger">Delete</button>
        <a class="button chosen" href="#" aria-current="true">Chosen</a>
        <button class="outline" aria-disabled="true">Busy</button>
      </p>
      <p class="actions">
        <span class="badge" data-variant="success">Approved</span>
        <span class="badge" data-variant="warning">Pending approval</span>
        <span class="badge" data-variant="danger">Revoked</span> <span class="badge">Other</span>
        <span class="badge" data-variant="danger">${relativeTime(nowMs + hour, nowMs)}</span>
      </p>
    </section>
    <section>
      <form class="card form" method="post" action="#">
        <h2>Fields</h2>
        ${csrfInput('token')} ${field({ name: 'name', label: 'Name', hint: 'Shown in lists.' }, form)}
        ${field({ name: 'email', label: 'Email', type: 'email' }, form)}
        ${choice(
          {
            name: 'level',
            label: 'Level',
            choices: [
              ['gold', 'Gold'],
              ['silver', 'Silver'],
            ],
          },
          form,
        )}
        ${textArea({ name: 'text', label: 'Rules', isCode: true, required: false }, form)}
        ${checkboxes({ name: 'product', label: 'API products', choices: ['speech-to-text', 'sms', first] }, form)}
        ${checkboxes({ name: 'scope', label: 'Scopes', choices: many, hints: new Map([[many[1] ?? '', 'Reads orders, and where each of them is.']]) }, form)}
        ${picker({ name: 'project', label: 'Project', suggestionsFrom: '#', suggestions: many.map((text) => ({ text, hint: first })) }, { ...form, values: { project: second } })}
        <button>Save</button>
      </form>
    </section>
    <section>
      <form class="card form" method="post" action="#">
        <h2>Many scopes</h2>
        ${scopePicker({ scopes, entries: new Map(scopes.map((name, index) => [name, { name, audience: `https://${index % 5}.api.example.com/v1`, description: long }])) }, { ...form, chosenScopes: scopes.slice(0, 7) })}
        <p class="finish"><button>Create application</button></p>
      </form>
    </section>
    <section>
      <h2>Values</h2>
      <dl class="pairs">
        <div>
          <dt>Client ID</dt>
          <dd>
            ${copyable({ id: 'copied', value: '0b7a16a4-93d6-4bd9-a6a8-8af1b6b7fd4e', what: 'client ID' })}
          </dd>
        </div>
        <div>
          <dt>Created</dt>
          <dd>${time(nowMs)}</dd>
        </div>
        <div>
          <dt>Name</dt>
          <dd>${second}</dd>
        </div>
        <div>
          <dt>Scopes</dt>
          <dd>${scopeList(scopes)}</dd>
        </div>
      </dl>
      ${tabs({
        name: 'snippet',
        label: 'Language',
        tabs: [
          {
            id: 'curl',
            label: 'curl',
            panel: code(
              'curl --user "$CLIENT_ID:$CLIENT_SECRET" https://auth.example.com/oauth/client_credential/accesstoken',
              'bash',
              'curl',
            ),
          },
          {
            id: 'ts',
            label: 'TypeScript',
            panel: code('const tokens = createTokenProvider()', 'typescript', 'TypeScript'),
          },
        ],
      })}
    </section>
    <section>
      <h2 id="usage">Token requests</h2>
      ${requestChart(bars, 'usage')}
    </section>
    ${dangerSection('Delete', [{ title: 'Delete the application', text: 'It can be restored within 30 days.', button: removal(99, second) }])}`
  return page(viewer, {
    title: second,
    body,
    trail: [
      ['Projects', '#'],
      [first, '#'],
    ],
    badge: state('success', 'Approved'),
    actions: html`<a class="button outline" href="#">Edit project</a>
      <a class="button" href="#">New application</a>`,
  })
}

/** Serves the gallery at `/ltr` and `/rtl`. */
export function createGallery(): FastifyInstance {
  const server = fastify()
  const paths = createPaths()
  const developer = { id: 'mia', name: 'mia', passwordHash: '', administrator: true, createdAtMs: 0 }
  for (const direction of ['ltr', 'rtl'] as const) {
    server.get(`/${direction}`, (_request, reply) => {
      const path = paths.applications
      const viewer = {
        paths,
        csrfToken: 'token',
        developer,
        path,
        url: path,
        isStarted: true,
        awaitingApproval: 4000,
      }
      return reply
        .headers(pageHeaders)
        .type('text/html')
        .send(String(galleryPage(viewer, direction)))
    })
  }
  server.get<{ Params: { name: string } }>('/portal/assets/:name', (request, reply) =>
    sendStaticFile(request.params.name, request, reply),
  )
  return server
}
