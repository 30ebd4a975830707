import { pino } from 'pino'
import { expect, it, vi } from 'vitest'
import { StorageFailure } from '../../src/storage/storage-failure.ts'
import { serviceWithContext } from '../service-context.ts'

it('logs one line for many requests that fail with the storage', async () => {
  const errors: string[] = []
  const logger = pino({ level: 'error' }, { write: (line) => void errors.push(line) })
  const service = await serviceWithContext({ portal: true, logger })
  const diskFull = new StorageFailure(new Error('disk full'))
  vi.spyOn(service.context.storage.sessions, 'find').mockRejectedValue(diskFull)
  for (let request = 0; request < 5; request += 1) {
    const headers = { cookie: 'tokenwell_portal=any' }
    expect((await fetch(`${service.authUrl}/portal`, { headers, redirect: 'manual' })).status).toBe(503)
  }
  expect(errors).toEqual([expect.stringContaining('disk full')])
  expect(errors[0]).not.toContain('    at ')
})
