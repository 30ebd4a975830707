import { startTokenService } from '@tokenwell/token-service'
import { describe, expect, it, onTestFinished } from 'vitest'
import { useCheapPasswords } from '../portal-browser.ts'
import { hasChromium, inChromium, inspectPage, joinAsFirst, usePages } from './chromium.ts'

useCheapPasswords()

describe.skipIf(!hasChromium)(inChromium, () => {
  const openPage = usePages()

  it('a project and an application are picked by a part of their names among many', async () => {
    const applications = Array.from({ length: 60 }, (_, index) => ({
      name: index === 47 ? 'Überweisung' : `Batch ${index}`,
      clientId: `batch-${index}`,
      clientSecret: `secret-of-the-batch-${index}`,
      project: index === 47 ? 'Zürich payments' : `Team ${index}`,
    }))
    const service = await startTokenService({ portal: true, applications })
    onTestFinished(() => service.close())
    const page = await openPage()
    await joinAsFirst(page, service)

    await page.goto(`${service.authUrl}/portal/new-application`)
    const project = page.getByLabel('Project', { exact: true })
    const suggested = () =>
      page.evaluate<string[]>(
        `Array.from(document.getElementById('project').list.options, ({ value }) => value)`,
      )
    expect(await suggested()).toHaveLength(20)
    await project.fill('zurich')
    await expect.poll(suggested).toEqual(['Zürich payments'])
    await project.fill('Zürich payments')
    await page.getByLabel('Application name').fill('Refunds')
    await page.getByRole('button', { name: 'Create application' }).click()
    await page.getByText('Copy the secret now').waitFor()

    await page.goto(`${service.authUrl}/portal/reference`)
    const application = page.getByLabel('As the application').first()
    await application.fill('UBER')
    await expect
      .poll(() => page.evaluate(`document.querySelector('[name=client_id]').list.textContent`))
      .toContain('Zürich payments')
    await application.fill('Überweisung')
    await page.getByRole('button', { name: 'Get Access Token', exact: true }).first().click()
    await page.getByText('"client_id": "batch-47"').waitFor()

    await page.goto(`${service.authUrl}/portal/projects?q=zurich`)
    await page.getByRole('link', { name: 'Zürich payments' }).click()
    await page.getByRole('link', { name: 'Owners' }).click()
    await inspectPage(page, 'project-owners')
    await page.getByLabel('Name').fill('ada')
    await page.getByRole('button', { name: 'Add owner' }).click()
    await page.getByText('The owner was added.').waitFor()
    await inspectPage(page, 'project-owners-added')
    await page.getByRole('link', { name: 'Settings' }).click()
    await inspectPage(page, 'project-settings')
  })
})
