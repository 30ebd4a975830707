import { z } from 'zod'
import { checkpoint, named, operation, type OperationGroup } from '../operation.ts'
import { withRemovedKeys } from '../../storage/hash-keys.ts'
import { verifyAudit, confirmClock } from './acts.ts'

const time = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text))

const filter = z.strictObject({
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(100_000)
    .default(1_000)
    .describe('How many entries there are at most.'),
  since: time.optional().describe('Only entries from this time on, such as 2026-01-31T00:00:00Z.'),
  until: time.optional().describe('Only entries before this time.'),
  clientId: z.string().optional().describe('Only entries about this client.'),
  event: z.string().optional().describe('Only entries with this event, such as secret_rotated.'),
})

const verification = z.strictObject({
  checkpoint: checkpoint
    .optional()
    .describe('What an earlier verification printed: all that it covers must still be there.'),
})

const result = named(
  'AuditVerification',
  z.object({
    entries: z.int().describe('How many entries the chain has.'),
    checkpoint: checkpoint
      .optional()
      .describe(
        'The signed end of the chain: keep it outside the database, and send it with a later verification.',
      ),
  }),
)

export const auditOperations: OperationGroup = {
  heading: 'Audit log',
  operations: [
    operation({
      method: 'get',
      path: '/audit',
      command: 'audit',
      summary: 'Read the audit log as JSON lines, the newest first',
      query: filter,
      response: z.string(),
      contentType: 'application/x-ndjson',
      async run({ storage, activity }, { query: { limit, since: sinceMs, until: untilMs, ...rest } }) {
        await activity.flush()
        const entries = await storage.audit.list(limit, { ...rest, sinceMs, untilMs })
        return entries.map((entry) => `${JSON.stringify(entry)}\n`).join('')
      },
    }),
    operation({
      method: 'post',
      path: '/audit/verification',
      command: { name: 'verify-audit', files: { checkpoint: 'member' } },
      summary: 'Check that no entry of the audit log was removed, changed or added',
      body: verification,
      response: result,
      run: async ({ storage, database, keyring }, { body }) =>
        verifyAudit(storage.audit, await withRemovedKeys(database.query, keyring), body.checkpoint),
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
