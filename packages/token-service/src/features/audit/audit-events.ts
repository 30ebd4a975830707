import { type SafeHtml, html } from '@remix-run/html-template'
import { describeOutcome } from '../applications/usage.ts'
import { formatCount } from '../../portal/layout/paging.ts'
import type { Paths } from '../../portal/paths.ts'
import type { Storage } from '../context.ts'
import { byConfiguration } from '../../storage/act.ts'
import { auditEvents, type AuditEventName } from '../../storage/audit-event-names.ts'
import type { AuditWord, StoredAuditEntry } from '../../storage/audit-storage.ts'
import { foldName } from '../../storage/folded-name.ts'

/** The sentence of an event; one of a later version of the service is named. */
function sentenceOf(event: string): string {
  const known: Readonly<Record<string, string | undefined>> = auditEvents
  const sentence = known[event] ?? `${event.replaceAll('_', ' ')} {client} {detail}`
  return /^[A-Z]/.test(sentence) ? sentence : `{actor} ${sentence}`
}

/** What the filter offers: events that one looks for together. */
export const eventGroups = {
  settings: [
    'Changes of settings',
    [
      'application_changed',
      'project_changed',
      'resource_server_changed',
      'trusted_issuer_changed',
      'product_changed',
      'scope_changed',
    ],
  ],
  approvals: [
    'Approvals',
    [
      'application_approved',
      'application_revoked',
      'approval_requested',
      'request_declined',
      'decline_undone',
    ],
  ],
  created: [
    'Created',
    [
      'application_created',
      'project_created',
      'resource_server_created',
      'trusted_issuer_added',
      'product_added',
      'scope_added',
    ],
  ],
  moved: ['Moved and owners', ['application_moved', 'owner_added', 'owner_removed']],
  deleted: [
    'Deleted and restored',
    [
      'application_deleted',
      'application_restored',
      'project_deleted',
      'project_restored',
      'resource_server_removed',
      'trusted_issuer_removed',
      'product_removed',
      'scope_removed',
      'developer_removed',
    ],
  ],
  credentials: [
    'Secrets, keys and tokens',
    [
      'secret_rotated',
      'secret_revoked',
      'key_added',
      'key_removed',
      'key_renamed',
      'keys_changed',
      'signing_key_rotated',
      'signing_keys_replaced',
      'hash_key_removed',
      'tokens_revoked',
      'token_revoked',
      'token_tried',
    ],
  ],
  people: [
    'People',
    [
      'developer_invited',
      'invitation_withdrawn',
      'developer_joined',
      'developer_promoted',
      'developer_demoted',
      'developer_removed',
      'password_link_created',
      'password_set',
      'password_changed',
      'password_blocked',
      'identity_linked',
      'identity_unlinked',
    ],
  ],
  sessions: [
    'Log-ins',
    ['logged_in', 'logged_out', 'log_in_failed', 'log_out_rejected', 'session_ended', 'sessions_ended'],
  ],
  service: [
    'The service itself',
    ['database_created', 'database_upgraded', 'audit_purged', 'clock_confirmed'],
  ],
  rejections: ['Rejected requests', ['request_rejected', 'administrator_rejected']],
} as const satisfies Readonly<Record<string, readonly [label: string, events: readonly AuditEventName[]]>>

/** What people call the settings that entries name. */
const settingNames: Readonly<Record<string, string>> = {
  lifetimeSeconds: 'token lifetime',
  products: 'API products',
  responseForm: 'token response',
  dpop: 'tokens bound to a key',
  organizationName: 'organisation',
  developerEmail: 'developer email',
  projectId: 'project',
  jwksUrl: 'URL of the JWK set',
}

export function settingName(name: string): string {
  return settingNames[name] ?? name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
}

/** Those settings that are looked for by their names; others are rarely changed. */
const searchedSettings = [
  ...Object.keys(settingNames),
  'name',
  'scopes',
  'level',
  'tokenFormat',
  'audiences',
  'status',
  'claims',
  'description',
  'audience',
  'issuer',
  'rules',
  'detectReplay',
]

/** The words of a search, with the settings that they may mean. */
export function auditWords(search: string): AuditWord[] {
  return foldName(search)
    .split(/\s+/)
    .filter(Boolean)
    .slice(0, 5)
    .map((text) => ({
      text,
      settings: searchedSettings.filter((name) => foldName(settingName(name)).includes(text)),
    }))
}

export type EventGroup = keyof typeof eventGroups

export function isEventGroup(name: string): name is EventGroup {
  return Object.hasOwn(eventGroups, name)
}

/** An entry of the audit log as people read it. */
export interface AuditSentence extends StoredAuditEntry {
  readonly sentence: SafeHtml
  /** The name of the application or API, if it still exists. */
  readonly clientName?: string | undefined
}

interface Subject {
  readonly name: string
  readonly path: string
}

/** Names what the entries are about, as far as it still exists. */
export async function createAuditSentences(
  storage: Storage,
  paths: Paths,
  entries: readonly StoredAuditEntry[],
): Promise<AuditSentence[]> {
  const subjects = await findSubjects(storage, paths, entries)
  return entries.map((entry) => {
    const { event, clientId, detail, count } = entry
    const client = clientId === undefined ? undefined : subjects.get(clientId)
    const values: Readonly<Record<string, SafeHtml | string>> = {
      actor: html`<strong>${actorText(entry)}</strong>`,
      client: client ? linkTo(client) : (clientId ?? 'an application'),
      owner: clientId === undefined ? '' : html` of ${client ? linkTo(client) : clientId}`,
      detail:
        detail === undefined ? '' : isRejection(event) ? outcomeText(detail) : detailText(detail, subjects),
    }
    const whole = sentenceOf(event)
    const words = detail === undefined ? whole.replace(': {detail}', '') : whole
    const parts = words.split(/\{(actor|client|owner|detail)\}/)
    const sentence = html`${parts.map((part, index) => (index % 2 === 1 ? (values[part] ?? '') : part))}${count > 1 ? ` × ${formatCount(count)}` : ''}`
    return { ...entry, sentence, clientName: client?.name }
  })
}

const isRejection = (event: string) => event === 'request_rejected'
// A reason in words is shown as it is.
const outcomeText = (detail: string) => (/^[a-z_]+$/.test(detail) ? describeOutcome(detail).label : detail)

/** Names of projects instead of their IDs, and anything else as it is. */
function detailText(detail: string, subjects: ReadonlyMap<string, Subject>): SafeHtml {
  return html`${detail.split(' ').map((word) => {
    const subject = subjects.get(word)
    return html`${subject ? linkTo(subject) : word} `
  })}`
}

/** No person can be named like the others: their names stand in their own words. */
export function actorText({ actorType, actor }: StoredAuditEntry): string {
  switch (actorType) {
    case 'person':
      return actor ?? 'Somebody'
    case 'api':
      return 'The administrators’ API'
    case 'command':
      return `The command${actor === undefined ? '' : ` (run by ${actor})`}`
    case 'service':
      if (actor === byConfiguration.actor) return 'The configuration'
      return `The service${actor === undefined ? '' : ` (${actor})`}`
    default:
      return 'Somebody'
  }
}

function linkTo({ name, path }: Subject): SafeHtml {
  return html`<a href="${path}">${name}</a>`
}

async function findSubjects(storage: Storage, paths: Paths, entries: readonly StoredAuditEntry[]) {
  const clientIds = new Set(entries.flatMap(({ clientId }) => clientId ?? []))
  const words = new Set(entries.flatMap(({ detail = '' }) => detail.split(' ')))
  const projectIds = [...words].filter((word) => /^[\da-f-]{36}$/.test(word))
  const [projects, servers, clients] = await Promise.all([
    Promise.all(projectIds.map((id) => storage.projects.find(id))),
    storage.resourceServers.list(),
    Promise.all([...clientIds].map((clientId) => storage.applications.findClient(clientId))),
  ])
  return new Map<string, Subject>([
    ...projects
      .filter((project) => project !== undefined)
      .map(({ id, name }) => [id, { name, path: paths.project(id) }] as const),
    ...servers.map((server) => {
      const { clientId, name } = server
      return [
        clientId,
        { name: name === '' ? clientId : name, path: paths.resourceServer(clientId) },
      ] as const
    }),
    ...clients
      .filter((client) => client !== undefined)
      .map(({ application: { clientId, id, name }, project }) => {
        return [clientId, { name, path: paths.application(project.id, id) }] as const
      }),
  ])
}
