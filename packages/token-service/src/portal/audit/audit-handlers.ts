import type { AuditEntry, AuditFilter } from '../../storage/storage.ts'
import type { RawParameters } from '../../protocol/raw-parameters.ts'
import type { auditRoutes } from './audit-routes.ts'
import type { ServiceContext } from '../../service/service-context.ts'
import { auditPage, type AuditSubject } from './audit-page.ts'
import type { HandlersOf } from '../portal-request.ts'
import type { Paths } from '../paths.ts'
import { requireAdministrator } from '../session/require-administrator.ts'

const shownEntries = 200
const exportedEntries = 100_000
const dayMs = 86_400_000

/** The audit log, for administrators. */
export function auditHandlers({ storage, activity }: ServiceContext): HandlersOf<typeof auditRoutes> {
  async function findSubjects(entries: readonly AuditEntry[], paths: Paths) {
    const clientIds = new Set(entries.flatMap(({ clientId }) => clientId ?? []))
    const [projects, servers, ...clients] = await Promise.all([
      storage.projects.list(),
      storage.resourceServers.list(),
      ...[...clientIds].map((clientId) => storage.applications.findClient(clientId)),
    ])
    return new Map<string, AuditSubject>([
      ...projects.map(({ id, name }) => [id, { name, path: paths.project(id) }] as const),
      ...servers.map(
        ({ clientId, name }) => [clientId, { name, path: paths.resourceServer(clientId) }] as const,
      ),
      ...clients
        .filter((client) => client !== undefined)
        .map(({ application: { clientId, id, name }, project }) => {
          return [clientId, { name, path: paths.application(project.id, id) }] as const
        }),
    ])
  }
  return {
    async showAudit(request) {
      requireAdministrator(request)
      await activity.flush()
      const filter = filterFields(request.query)
      const entries = await storage.activity.audit(shownEntries, parseFilter(filter))
      const subjects = await findSubjects(entries, request.paths)
      return { page: auditPage(request, { entries, subjects, filter, limit: shownEntries }) }
    },
    async exportAudit(request) {
      requireAdministrator(request)
      await activity.flush()
      const filter = parseFilter(filterFields(request.query))
      const entries = await storage.activity.audit(exportedEntries, filter)
      const text = entries.map((entry) => `${JSON.stringify(entry)}\n`).join('')
      return { file: { name: 'audit.jsonl', type: 'application/x-ndjson; charset=utf-8', text } }
    },
  }
}

const fieldNames = ['event', 'actor', 'client_id', 'address', 'since', 'until'] as const
type FilterFields = Readonly<Partial<Record<(typeof fieldNames)[number], string>>>

function filterFields(query: RawParameters): Record<string, string> & FilterFields {
  const fields = fieldNames.flatMap((name) => {
    const value = query[name]
    return typeof value === 'string' && value.trim() !== '' ? [[name, value.trim()]] : []
  })
  return Object.fromEntries(fields) as Record<string, string> & FilterFields
}

/** Days are in UTC; the last one is included. */
function parseFilter({
  event,
  actor,
  client_id: clientId,
  address,
  since,
  until,
}: FilterFields): AuditFilter {
  return {
    event,
    actor: actor?.toLowerCase(),
    clientId,
    address,
    ...(isDay(since) && { sinceMs: Date.parse(since) }),
    ...(isDay(until) && { untilMs: Date.parse(until) + dayMs }),
  }
}

function isDay(text: string | undefined): text is string {
  return text !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text))
}
