import type { Locator, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import {
  createApplication,
  createProject,
  password,
  startPortal,
  useCheapPasswords,
} from '../portal-browser.ts'
import { hasChromium, inChromium, tabTo, usePages } from './chromium.ts'

useCheapPasswords()

const dayMs = 86_400_000

/** Two pending applications of one project, a secret that expires tomorrow, and a session in another browser. */
async function withWork() {
  const { admin, developer, newBrowser, service } = await startPortal({
    applications: [
      {
        name: 'Émile billing',
        clientId: 'billing',
        clientSecret: 'demo-secret-0123456789',
        clientSecretExpiresAt: new Date(Date.now() + dayMs).toISOString(),
      },
    ],
  })
  const grace = await developer('grace')
  const project = await createProject(grace, 'Archive')
  for (const name of ['one', 'two']) await createApplication(grace, project, { name })
  const stolen = newBrowser()
  await stolen.get('/portal/log-in')
  await stolen.post('/portal/log-in', { name: 'ada', password })
  const { storage } = service.context
  return { authUrl: service.authUrl, admin, stolen, storage, projectId: project.split('/').at(-1) ?? '' }
}

/** How somebody reaches what is on a page. */
interface Way {
  readonly options: object
  readonly activate: (target: Locator) => Promise<void>
  /** Puts the focus into the search of everything. */
  readonly search: (page: Page) => Promise<void>
}

const ways: Readonly<Record<string, Way>> = {
  'with the keyboard alone': {
    options: {},
    async activate(target) {
      await tabTo(target)
      const isChoice = await target.evaluate((element) => element.matches('[type=checkbox]'))
      await target.page().keyboard.press(isChoice ? 'Space' : 'Enter')
    },
    search: (page) => page.keyboard.press('Control+k'),
  },
  'on a phone': {
    options: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
    activate: (target) => target.tap(),
    async search(page) {
      await page.getByRole('button', { name: 'Menu' }).tap()
      await page.getByLabel('Search everything').tap()
    },
  },
}

describe.skipIf(!hasChromium)(inChromium, () => {
  const openPage = usePages()

  it.each(Object.keys(ways))('an administrator does urgent work %s', async (name) => {
    const { options, activate, search } = ways[name]!
    const { authUrl, admin, stolen, storage, projectId } = await withWork()
    const page = await openPage(options)
    const cookies = Array.from(admin.cookies, ([key, value]) => ({ name: key, value, url: authUrl }))
    await page.context().addCookies(cookies)

    // Find an application by a part of its name.
    await page.goto(`${authUrl}/portal/projects`)
    await search(page)
    await page.keyboard.type('emile')
    await page.keyboard.press('Enter')
    await activate(page.getByRole('link', { name: 'Émile billing' }))

    // Rotate its secret, which expires tomorrow.
    await activate(page.getByRole('link', { name: 'Credentials', exact: true }))
    await activate(page.getByRole('button', { name: 'Rotate secret' }))
    await activate(page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }))
    await page.getByRole('heading', { name: 'Copy the secret now' }).waitFor()
    expect((await storage.applications.findClient('billing'))?.secrets).toHaveLength(2)

    // Approve everything that one project requests.
    await page.goto(`${authUrl}/portal/approvals`)
    await activate(page.getByRole('link', { name: /Archive ·/ }).first())
    await page.getByText('2 applications to decide on', { exact: true }).waitFor()
    await activate(page.getByLabel('Select all that are shown'))
    await activate(page.getByRole('button', { name: 'Approve 2' }))
    await page.getByText('No pending approvals').waitFor()
    const { items } = await storage.listings.applications({ projectId, limit: 9, offset: 0 })
    expect(items.map(({ application }) => application.status)).toEqual(['approved', 'approved'])

    // End a session that somebody else uses.
    await page.goto(`${authUrl}/portal/account`)
    await activate(page.getByRole('button', { name: 'End all others' }))
    await page.getByText('The session was ended').waitFor()
    expect((await stolen.get('/portal/projects')).status).toBe(303)
    expect((await admin.get('/portal/projects')).status).toBe(200)
  })
})
