import { expect, it } from 'vitest'
import { startOfDay } from '../../src/portal/layout/time.ts'
import {
  applicationForm,
  createApplication,
  plainText,
  tokenFor,
  useCheapPasswords,
  withApplication,
} from './portal-browser.ts'

useCheapPasswords()

const rows = (text: string) =>
  [...text.matchAll(/<p class="sentence">(.*?)<\/p>/gs)].map(([, row]) =>
    plainText(row ?? '')
      .replaceAll(/\s+/g, ' ')
      .trim(),
  )

it('finds who changed a setting, with the old and the new value in the row', async () => {
  const { admin, developer, application, project, time } = await withApplication({ name: 'Überweisung' })
  await createApplication(admin, project, { name: 'Other' })
  await developer('grace')
  time.now += 60_000
  await admin.get(application.path)
  await admin.post(`${application.path}/settings`, {
    ...applicationForm,
    name: 'Überweisung',
    lifetime: '60',
  })
  await admin.post(`${application.path}/deletion`, { decision: 'delete' })
  const search = async (query: Readonly<Record<string, string>>) =>
    rows((await admin.get(`/portal/audit?${new URLSearchParams(query)}`)).text)

  const change = 'ada changed the settings of Überweisung token lifetime 1 hour → becomes 1 minute'
  expect(await search({ q: 'token lifetime' })).toEqual([change])
  expect(await search({ q: 'uber', group: 'settings' })).toEqual([change])
  expect(await search({ q: 'UBER ad', group: 'deleted' })).toEqual(['ada deleted Überweisung'])
  expect((await search({ q: application.clientId.slice(0, 12) })).length).toBe(3)
  expect(await search({ q: 'grac' })).toEqual(await search({ q: 'grace' }))
  expect(await search({ q: 'audiences' })).toEqual([])
  expect(await search({ q: 'nobody' })).toEqual([])
})

it('takes days as those of the reader, or of UTC where the script does not say whose', async () => {
  const { admin, application, authUrl, time } = await withApplication()
  // In Auckland, which is 13 hours ahead, it is the next day.
  time.now = Date.UTC(2026, 0, 31, 11, 30)
  await tokenFor(authUrl, { ...application, clientSecret: 'wrong' })
  const found = async (since: string, zone: string) => {
    const query = new URLSearchParams({ group: 'rejections', since, until: since, zone })
    return (await admin.get(`/portal/audit?${query}`)).text
  }
  expect(rows(await found('2026-02-01', 'Pacific/Auckland'))).toHaveLength(1)
  expect(rows(await found('2026-01-31', 'Pacific/Auckland'))).toEqual([])
  expect(rows(await found('2026-01-31', ''))).toHaveLength(1)
  expect(rows(await found('2026-01-31', 'Nowhere/Land'))).toHaveLength(1)
  expect(plainText(await found('2026-01-31', ''))).toContain('Days are those of UTC.')
})

it('knows when a day begins where clocks are set forward or back on it', () => {
  const begins = (day: string, zone: string) => new Date(startOfDay(Date.parse(day), zone)).toISOString()
  expect(begins('2026-11-01', 'America/New_York')).toBe('2026-11-01T04:00:00.000Z')
  expect(begins('2026-11-02', 'America/New_York')).toBe('2026-11-02T05:00:00.000Z')
  expect(begins('2026-03-29', 'Europe/Zurich')).toBe('2026-03-28T23:00:00.000Z')
  expect(begins('2026-03-30', 'Europe/Zurich')).toBe('2026-03-29T22:00:00.000Z')
  expect(begins('2026-03-30', 'Asia/Kathmandu')).toBe('2026-03-29T18:15:00.000Z')
  // When that day begins in UTC, the clocks there have been set back already.
  expect(begins('2026-04-05', 'Pacific/Auckland')).toBe('2026-04-04T11:00:00.000Z')
  expect(begins('2026-03-30', '')).toBe('2026-03-30T00:00:00.000Z')
})
