import { html, type SafeHtml } from '@remix-run/html-template'
import type { Storage } from '../../service/context.ts'
import type { StoredAuditEntry } from '../../storage/audit-storage.ts'
import { byConfiguration } from '../../storage/act.ts'
import { describeOutcome } from '../applications/usage.ts'
import type { Paths } from '../paths.ts'
import { sentenceOf } from './audit-events.ts'
import { formatCount } from '../layout/paging.ts'

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
    const parts = sentenceOf(event).split(/\{(actor|client|owner|detail)\}/)
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
