import { expect, it } from 'vitest'
import { eventGroups } from '../../../src/features/audit/audit-events.ts'
import { auditEvents } from '../../../src/storage/audit-event-names.ts'

it('finds every event of the audit log in a group of the filter', () => {
  const grouped: readonly string[] = Object.values(eventGroups).flatMap(([, events]) => [...events])
  expect(Object.keys(auditEvents).filter((event) => !grouped.includes(event))).toEqual([])
})
