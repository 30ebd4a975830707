import { z } from 'zod'
import { reference } from '../../runtime/bounds.ts'
import { operation, type OperationGroup } from '../operation.ts'
import { confirmClock } from './acts.ts'

const time = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text))

const filter = z.strictObject({
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(100_000)
    .default(1_000)
    .describe('How many entries there are at most.'),
  after: z.coerce
    .number()
    .int()
    .min(0)
    .optional()
    .describe(
      'Only the acts with a larger ID, the oldest first; 0 for all. `Link` has the URL of the next page.',
    ),
  since: time.optional().describe('Only entries from this time on, such as 2026-01-31T00:00:00Z.'),
  until: time.optional().describe('Only entries before this time.'),
  clientId: reference.optional().describe('Only entries about this client.'),
  event: reference.optional().describe('Only entries with this event, such as secret_rotated.'),
})

export const auditOperations: OperationGroup = {
  heading: 'Audit log',
  operations: [
    operation({
      method: 'get',
      path: '/audit',
      command: { name: 'audit', follow: 'after' },
      summary: 'Read the audit log as JSON lines, the newest first, or complete after an ID',
      query: filter,
      response: z.string(),
      contentType: 'application/x-ndjson',
      async run({ storage, activity }, { query, reply }) {
        const { limit, after, since: sinceMs, until: untilMs, ...rest } = query
        const filter = { ...rest, sinceMs, untilMs }
        if (after === undefined) await activity.flush()
        const entries = await (after === undefined
          ? storage.audit.list(limit, filter)
          : storage.audit.after(after, limit, filter))
        if (after !== undefined && entries.length === limit)
          void reply.header('link', `<${pageAfter(entries.at(-1)!.id, reply.request.url)}>; rel="next"`)
        return entries.map((entry) => `${JSON.stringify(entry)}\n`).join('')
      },
    }),
    operation({
      method: 'post',
      path: '/clock/confirmation',
      command: 'confirm-clock',
      summary: 'Confirm the clock, if nothing is deleted because it is ahead of the last purge',
      run: ({ perform }, { by }) => perform(by, confirmClock),
    }),
  ],
}

/** The URL of the entries that follow, with everything else of the request. */
function pageAfter(id: number, url: string): string {
  const [path = '', query] = url.split('?')
  const parameters = new URLSearchParams(query)
  parameters.set('after', String(id))
  return `${path}?${parameters}`
}
