import { developerPortal } from '@tokenwell/developer-portal'
import { startTokenService } from '@tokenwell/token-service'
import { StorageFailure, type DeveloperPortal } from '@tokenwell/token-service/plugin'
import { pino } from 'pino'
import { expect, it, onTestFinished } from 'vitest'

/** The portal of a service whose disk is full. */
const portal: DeveloperPortal = {
  ...developerPortal,
  plugin(server, { service }) {
    const sessions = {
      ...service.storage.sessions,
      find: () => Promise.reject(new StorageFailure(new Error('disk full'))),
    }
    const storage = { ...service.storage, sessions }
    return developerPortal.plugin(server, { service: { ...service, storage } })
  },
}

it('logs one line for many requests that fail with the storage', async () => {
  const errors: string[] = []
  const logger = pino({ level: 'error' }, { write: (line) => void errors.push(line) })
  const service = await startTokenService({ portal, logger })
  onTestFinished(() => service.close())
  for (let request = 0; request < 5; request += 1) {
    const headers = { cookie: 'tokenwell_portal=any' }
    expect((await fetch(`${service.authUrl}/portal`, { headers, redirect: 'manual' })).status).toBe(503)
  }
  expect(errors).toEqual([expect.stringContaining('disk full')])
  expect(errors[0]).not.toContain('    at ')
})
