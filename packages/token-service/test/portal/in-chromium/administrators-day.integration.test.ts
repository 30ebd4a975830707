import { randomUUID } from 'node:crypto'
import type { Locator } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import {
  createApplication,
  createProject,
  decide,
  invite,
  password,
  startPortal,
  tokenFor,
  useCheapPasswords,
} from '../portal-browser.ts'
import { hasChromium, inChromium, tabTo, timeout, usePages } from './chromium.ts'

useCheapPasswords()

const waiting = 4_000
const october = Date.UTC(2026, 9, 20, 10)
const today = Date.UTC(2026, 10, 25, 9)

/** A product granted last month, 4,000 pending applications, an open invitation, and a secret that expires in four days. */
async function withWork() {
  const time = { now: october }
  const { admin, developer, service } = await startPortal({
    clock: { now: () => time.now },
    products: ['sms', 'speech-to-text'],
    applications: [
      {
        name: 'Billing',
        clientId: 'billing',
        clientSecret: 'demo-secret-0123456789',
        clientSecretExpiresAt: new Date(today + 4 * 86_400_000).toISOString(),
      },
    ],
  })
  const grace = await developer('grace')
  const project = await createProject(grace)
  const archive = await createApplication(grace, project, { name: 'Archive' })
  await decide(admin, archive.path, 'approve')
  await tokenFor(service.authUrl, archive)

  time.now = today
  await admin.get('/portal/log-in')
  await admin.post('/portal/log-in', { name: 'ada', password })
  await invite(admin, 'Grace')
  const { storage } = service.context
  const template = (await storage.applications.findClient('billing'))!.application
  const projectId = project.split('/').at(-1) ?? ''
  for (let index = 0; index < waiting; index += 1)
    await storage.applications.create(
      {
        ...template,
        id: randomUUID(),
        projectId,
        name: `Application ${String(index).padStart(4, '0')}`,
        clientId: `client-${index}`,
        status: 'pending',
        createdAtMs: today - index,
      },
      [],
    )
  return { authUrl: service.authUrl, storage }
}

describe.skipIf(!hasChromium)(inChromium, () => {
  const openPage = usePages()

  it("an administrator's day is done with the keyboard alone", async () => {
    const { authUrl, storage } = await withWork()
    const page = await openPage()
    const keyboard = page.keyboard
    let activations = 0
    const label = (name: string) => page.getByLabel(new RegExp(`^${name}`))
    const link = (name: string) => page.getByRole('navigation').getByRole('link', { name })
    const button = (name: string) => page.getByRole('button', { name })
    const activate = async (target: Locator) => {
      await tabTo(target)
      activations += 1
      await keyboard.press('Enter')
    }
    const times: string[] = []
    const measure = async (what: string, most: number, work: () => Promise<void>) => {
      const began = performance.now()
      activations = 0
      await work()
      times.push(`${what}: ${activations} activations, ${((performance.now() - began) / 1000).toFixed(1)} s`)
      expect(activations, what).toBeLessThanOrEqual(most)
    }

    await page.goto(`${authUrl}/portal`)
    await tabTo(label('Name'))
    await keyboard.type('ada')
    await tabTo(label('Password'))
    await keyboard.type(password)
    await keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Overview' }).waitFor(timeout)

    await measure('approve one of 4,000', 3, async () => {
      await activate(link('Approvals'))
      await page.getByText('of 4,000 applications to decide on').waitFor()
      await keyboard.press('/')
      await keyboard.type('Application 2718')
      activations += 1
      await keyboard.press('Enter')
      await page.getByText('1–50 of').waitFor({ state: 'detached' })
      await activate(button('Approve Application 2718'))
      await page.getByText('of 3,999 applications to decide on').waitFor()
      expect((await storage.applications.findClient('client-2718'))?.application.status).toBe('approved')
    })

    await measure('find who granted a product last month', 3, async () => {
      await activate(link('Audit log'))
      await page.getByRole('heading', { name: 'Audit log' }).waitFor()
      await tabTo(label('From'))
      await keyboard.type('10012026')
      await tabTo(label('To'))
      await keyboard.type('10312026')
      activations += 1
      await keyboard.press('Enter')
      const entry = page.getByRole('listitem').filter({ hasText: 'approved Archive' })
      await entry.waitFor()
      expect(await entry.locator('.sentence').innerText()).toContain('ada approved Archive')
      await activate(entry.locator('summary'))
      expect(await entry.locator('dl').innerText()).toContain('speech-to-text')
    })

    await measure('withdraw an invitation', 3, async () => {
      await activate(link('People'))
      await page.getByRole('heading', { name: 'People' }).waitFor()
      await activate(link('Invitations 1'))
      await activate(button('Withdraw the invitation of Grace'))
      await page.getByText('The invitation was withdrawn').waitFor()
      await page.getByText('No open invitations').waitFor()
    })

    await measure('see which secrets expire next week', 1, async () => {
      await activate(link('Overview'))
      await page.getByRole('link', { name: 'Billing' }).waitFor(timeout)
      await page.getByText('in 4 days').waitFor()
    })
    if (process.env['TOKENWELL_SOAK'] === '1') process.stdout.write(`${times.join('\n')}\n`)
  })
})
