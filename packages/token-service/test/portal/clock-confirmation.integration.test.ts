import { expect, it, onTestFinished, vi } from 'vitest'
import { createKeyring } from '../../src/runtime/keyring.ts'
import { adminSender } from '../test-service.ts'
import { plainText, startPortal, useCheapPasswords } from './portal-browser.ts'

useCheapPasswords()

it('an administrator confirms the clock in the portal or with the command, but nobody else', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const time = { now: Date.UTC(2026, 0, 2) }
  const adminToken = 'administrator-token-0123456789-abcdef'
  const { admin, developer, service } = await startPortal({
    clock: { now: () => time.now },
    adminPort: 0,
    adminToken,
  })
  const { storage } = service.context
  const page = async () => plainText((await admin.get('/portal/audit')).text).replaceAll(/\s+/g, ' ')
  /** Purges once; with another key, the time of the last purge is not the one that the service has signed. */
  const purge = async (key?: string) => {
    if (key !== undefined) await storage.purgeTime.set(time.now, createKeyring([key]))
    vi.advanceTimersByTime(60_000)
  }
  expect(await page()).not.toContain('Nothing is deleted')
  await purge('x'.repeat(32))
  await expect.poll(page).toContain('Nothing is deleted at the moment')
  expect(await page()).toContain('shows 2 Jan 2026')
  expect(await page()).toContain('The time of the last purge is missing or was changed.')

  const other = await developer('grace')
  await other.get('/portal/projects')
  expect((await other.post('/portal/audit/clock')).status).toBe(403)
  await admin.get('/portal/audit')
  expect((await admin.post('/portal/audit/clock')).location).toBe('/portal/audit')
  expect(await page()).toContain('The clock is confirmed.')
  await purge()
  await expect.poll(page).not.toContain('Nothing is deleted')
  expect(await page()).toContain('ada confirmed the clock')

  await purge('y'.repeat(32))
  await expect.poll(page).toContain('Nothing is deleted')
  expect((await adminSender(service.adminUrl!, adminToken)('POST', '/clock/confirmation')).status).toBe(204)
  await purge()
  await expect.poll(page).not.toContain('Nothing is deleted')
  expect(await page()).toContain('The administrators’ API confirmed the clock')
})
