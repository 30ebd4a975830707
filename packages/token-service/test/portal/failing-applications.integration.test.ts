import { expect, it } from 'vitest'
import {
  cells,
  createApplication,
  plainText,
  tokenFor,
  useCheapPasswords,
  withApplication,
} from './portal-browser.ts'

useCheapPasswords()

const read = (text: string) => plainText(text).replaceAll(/\s+/g, ' ')

it('an application that gets no tokens any more says so where one looks, since when and why', async () => {
  const { admin, authUrl, application, project, time } = await withApplication({ name: 'Checkout' })
  const works = await createApplication(admin, project, { name: 'Works' })
  await tokenFor(authUrl, application)
  await tokenFor(authUrl, { ...works, clientSecret: 'wrong' })
  time.now += 60_000
  await tokenFor(authUrl, works)
  await tokenFor(authUrl, { ...application, clientSecret: 'wrong' })
  time.now += 2 * 3_600_000
  await tokenFor(authUrl, { ...application, clientSecret: 'wrong' })
  time.now += 1000

  const overview = (await admin.get('/portal')).text
  expect(read(overview)).toContain('Checkout Invalid credentials, for 2 hours Failing now')
  expect(overview).toContain('href="/portal/applications?show=failing"')
  const list = (await admin.get('/portal/applications?show=failing')).text
  expect([cells(list, 'name').length, cells(list, 'status')]).toEqual([
    1,
    ['Failing for 2 hrInvalid credentials'],
  ])
  expect(read((await admin.get(application.path)).text)).toContain(
    'Failing for 2 hours: Invalid credentials. Check the client’s secret or key',
  )
  expect((await admin.get(works.path)).text).not.toContain('Failing')
  const ordered = (await admin.get('/portal/applications?order=failures')).text
  expect(cells(ordered, 'name').map((name) => name.split('Speech')[0])).toEqual([
    expect.stringContaining('Checkout'),
    expect.stringContaining('Works'),
  ])

  // The next token ends it.
  await tokenFor(authUrl, application)
  expect((await admin.get(application.path)).text).not.toContain('Failing')
})
