import { expect, it } from 'vitest'
import { createJournal } from '../../src/sandbox/journal.ts'

it('keeps the latest 10,000 requests, and counts all of them', () => {
  const journal = createJournal()
  const request = { method: 'POST', path: '/', status: 200, durationMs: 0.6, address: '' }
  for (let time = 0; time < 10_001; time += 1) journal.record(request)
  const { total, counts, requests } = journal.read()
  expect([total, counts.path['/'], requests.length, requests[0]?.number]).toEqual([10_001, 10_001, 10_000, 2])
  expect(requests[0]?.durationMs).toBe(1)
  expect(counts.client).toEqual({})
})
