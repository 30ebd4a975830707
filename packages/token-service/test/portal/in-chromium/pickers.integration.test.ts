import { startTokenService } from '@tokenwell/token-service'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createProject, idIn, password, startPortal, useCheapPasswords } from '../portal-browser.ts'
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

  it('scopes are picked among many in a part that does not grow', async () => {
    const scopes = Array.from({ length: 150 }, (_, index) => ({
      name: `https://scopes.example.org/${['mail', 'files', 'calendar'][index % 3]}.${index}`,
      ...(index % 3 !== 2 && { audience: `https://${['mail', 'files'][index % 3]}.example.org` }),
      ...(index === 31 && { description: 'Reads attachments' }),
    }))
    const service = await startTokenService({ portal: true, scopes })
    onTestFinished(() => service.close())
    const page = await openPage({ viewport: { width: 390, height: 844 } })
    await joinAsFirst(page, service)
    await page.getByLabel('Project name').fill('Archive')
    await page.getByRole('button', { name: 'Create project' }).click()
    await page.getByLabel('Application name').waitFor()
    await inspectPage(page, 'start-with-scopes')

    await page.goto(`${service.authUrl}/portal/new-application`)
    expect(await page.evaluate<number>('document.documentElement.scrollHeight')).toBeLessThan(1_200)
    expect(await page.getByRole('button', { name: 'Create application' }).isVisible()).toBe(true)
    const search = page.getByLabel('Search the scopes')
    await search.fill('attachments')
    await search.press('Enter')
    await page.getByLabel('https://scopes.example.org/files.31').check()
    await search.fill('mail 33')
    await page.getByLabel('https://scopes.example.org/mail.33').check()
    await search.fill('nothing like it')
    await page.getByText('No scope matches.').waitFor()
    await inspectPage(page, 'scopes-picked')
    await page.getByRole('button', { name: 'Remove https://scopes.example.org/mail.33' }).click()
    await search.fill('')
    await page.getByText('1 of 50').waitFor()
    await page.getByLabel('Application name').fill('Reader')
    await page.getByRole('button', { name: 'Create application' }).click()
    await page.getByText('Copy the secret now').waitFor()
    await page.goto(`${service.authUrl}/portal/applications`)
    await page.getByRole('link', { name: 'Reader' }).click()
    await page.getByText('https://scopes.example.org/files.31').waitFor()
    expect(await page.getByText('https://scopes.example.org/').count()).toBe(1)
  })

  it('a form that was sent after the session had ended is shown again to the same person', async () => {
    const { admin, developer, service } = await startPortal()
    await developer('grace')
    const project = await createProject(admin, 'Archive')
    const page = await openPage()
    const logIn = async (name: string) => {
      await page.getByLabel('Name').fill(name)
      await page.getByLabel('Password').fill(password)
      await page.getByRole('button', { name: 'Log in' }).click()
    }
    const sendAfterTheEnd = async () => {
      await page.goto(`${service.authUrl}/portal/new-application?project=${idIn(project)}`)
      await page.getByLabel('Application name').fill('Reader of the archive')
      await page.getByLabel('speech-to-text').check()
      await page.context().clearCookies()
      // With the token of a page that is opened meanwhile.
      const other = await page.context().newPage()
      await other.goto(`${service.authUrl}/portal/log-in`)
      const token = await other.locator('[name=csrf_token]').first().inputValue()
      await other.close()
      await page.evaluate(
        `for (const each of document.querySelectorAll('[name=csrf_token]')) each.value = '${token}'`,
      )
      await page.getByRole('button', { name: 'Create application' }).click()
      await page.getByRole('heading', { name: 'Log in' }).waitFor()
    }
    await page.goto(`${service.authUrl}/portal/projects`)
    await logIn('ada')
    await page.getByRole('heading', { name: 'Projects' }).waitFor()
    await sendAfterTheEnd()
    await logIn('ada')
    await page.getByText('Your session had ended.').waitFor()
    expect(await page.getByLabel('Application name').inputValue()).toBe('Reader of the archive')
    expect(await page.getByLabel('speech-to-text').isChecked()).toBe(true)
    expect((await service.context.storage.listings.applications({ limit: 1, offset: 0 })).total).toBe(0)
    await inspectPage(page, 'form-after-log-in')

    await sendAfterTheEnd()
    await logIn('grace')
    await page.getByRole('heading', { name: 'Page not found' }).waitFor()
    await page.goto(`${service.authUrl}/portal/new-application`)
    expect(await page.getByText('Your session had ended.').count()).toBe(0)
    expect(await page.evaluate(`sessionStorage.length`)).toBe(0)
  })
})
