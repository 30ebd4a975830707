import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { introspect } from '../../test-service.ts'
import { password, useCheapPasswords } from '../portal-browser.ts'
import {
  hasChromium,
  inChromium,
  inspectPage,
  timeout,
  usePages,
  confirm,
  copied,
  createProjectAndApplication,
  credentials,
  join,
  joinAsFirst,
  openTab,
  tabTo,
  startServiceWithPortal,
  tokenStatus,
} from './chromium.ts'

const run = promisify(execFile)

useCheapPasswords()

describe.skipIf(!hasChromium)(inChromium, () => {
  const openPage = usePages()

  it('a new developer gets the first token with the copied curl snippet, and sees it in the portal', async () => {
    const service = await startServiceWithPortal()
    const page = await openPage()
    await page.goto(`${service.authUrl}/portal`)
    await inspectPage(page, 'log-in-without-developers')
    const link = (await service.createSetupLink()) ?? ''
    await page.goto(link)
    await inspectPage(page, 'join')
    await join(page, link)
    await inspectPage(page, 'get-started')
    await createProjectAndApplication(page)
    await inspectPage(page, 'secret')

    const { clientId, clientSecret } = await credentials(page)
    expect(await copied(page, 'Copy the client ID')).toBe(clientId)
    expect(await copied(page, 'Copy the client secret')).toBe(clientSecret)
    expect(await copied(page, 'Copy as .env')).toBe(
      `AUTH_URL=${service.authUrl}\nCLIENT_ID=${clientId}\nCLIENT_SECRET=${clientSecret}`,
    )
    const placeOf = async () => (await page.getByRole('button', { name: 'Copy as .env' }).boundingBox())?.y
    const snippet = await copied(page, 'Copy the curl snippet')
    await page.evaluate('scrollTo(0, 0)')
    const place = await placeOf()
    const { stdout } = await run('sh', ['-c', snippet])
    const { access_token: token } = JSON.parse(stdout)
    expect((await introspect(service.authUrl, token)).body).toMatchObject({
      active: true,
      client_id: clientId,
    })

    // By itself: the page still shows the secret.
    await page.locator('.steps').getByText('Your application has received its first token').waitFor()
    expect(await page.locator('#client-secret').textContent()).toBe(clientSecret)
    await page.getByText('You have your first token').waitFor()
    // What one is about to click does not move.
    expect(await placeOf()).toBe(place)
    expect(await page.getByText('One step to go').count()).toBe(0)
    await page.getByText('TypeScript', { exact: true }).click()
    expect(await copied(page, 'Copy the TypeScript snippet')).toContain(clientSecret)
    expect(await page.locator('#menu [aria-current]').innerText()).toBe('Get started')
    await page.goto(`${service.authUrl}/portal/get-started`)
    await page.getByText('You have your first token').waitFor()
    await inspectPage(page, 'get-started-done')
    await page.goto(`${service.authUrl}/portal`)
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.getByRole('link', { name: 'Get started' }).waitFor({ state: 'detached' })
    await inspectPage(page, 'overview')
    await page.getByRole('link', { name: 'Projects' }).click()
    await inspectPage(page, 'projects')
    await page.getByRole('link', { name: 'Applications', exact: true }).click()
    await page.getByRole('link', { name: 'Transcriber' }).waitFor()
    await inspectPage(page, 'applications')
    expect(await page.content()).not.toContain(clientSecret)
    await tokenStatus(service, clientId, 'a wrong secret')
    await page.getByRole('link', { name: 'Transcriber' }).click()
    await page.locator('#usage-summary').waitFor()
    expect(await page.locator('#usage-summary').innerText()).toMatch(/1 issued\s+1 failed/)
    await inspectPage(page, 'application')
    await page.getByRole('link', { name: '30 days' }).click()
    await page.getByText('in the last 30 days').waitFor()
    await inspectPage(page, 'application-30-days')
    await openTab(page, 'Requests')
    await page.getByRole('link', { name: 'Invalid credentials' }).click()
    const failure = page.getByRole('row').filter({ hasText: '127.0.0.1' }).first()
    expect(await failure.innerText()).toContain('Invalid credentials')
    await inspectPage(page, 'application-requests')
    await openTab(page, 'Credentials')
    await inspectPage(page, 'application-credentials')
    await openTab(page, 'Settings')
    await inspectPage(page, 'application-settings')
  })

  it('works with the keyboard alone, from the first administrator to a rotation', async () => {
    const service = await startServiceWithPortal()
    const page = await openPage()
    await page.goto((await service.createSetupLink()) ?? '')
    await tabTo(page.getByLabel('Name'))
    await page.keyboard.type('Ada')
    await tabTo(page.getByLabel('Password'))
    await page.keyboard.type(password)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Get started' }).waitFor()
    const focused = () =>
      page.evaluate<string>(
        '(document.activeElement.innerText || document.activeElement.name).replaceAll(/\\s+/g, " ")',
      )
    await page.keyboard.press('Tab')
    expect(await focused()).toBe('Skip to content')
    await page.keyboard.press('Enter')
    await tabTo(page.getByLabel('Project name'))
    await page.keyboard.type('Speech')
    await page.keyboard.press('Enter')
    await page.getByText('The project was created').waitFor()
    await tabTo(page.getByLabel('Application name'))
    await page.keyboard.type('Transcriber')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Copy the secret now' }).waitFor()
    const { clientId, clientSecret } = await credentials(page)
    await tabTo(page.locator('[name=snippet]:checked'))
    await page.keyboard.press('ArrowRight')
    await page.getByRole('region', { name: 'TypeScript' }).waitFor()
    await tabTo(page.getByRole('link', { name: 'Continue to the application' }))
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Latest token' }).waitFor()
    const tab = (name: string) =>
      page.getByRole('navigation', { name: 'Application' }).getByRole('link', { name })
    await tabTo(tab('Credentials'))
    await page.keyboard.press('Enter')
    await tabTo(page.getByRole('button', { name: 'Rotate secret' }))
    await page.keyboard.press('Enter')
    await tabTo(page.getByLabel('Existing secrets expire'))
    await page.keyboard.type('in 1 day')
    await tabTo(page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }))
    await page.keyboard.press('Enter')
    await page.getByText('The existing secrets expire in 1 day').waitFor()
    const rotated = await credentials(page)
    expect(await tokenStatus(service, clientId, clientSecret)).toBe(200)
    expect(await tokenStatus(service, clientId, rotated.clientSecret)).toBe(200)
    await tabTo(page.getByRole('link', { name: 'Continue to the application' }))
    await page.keyboard.press('Enter')
    await tabTo(tab('Settings'))
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Move, revoke or delete' }).waitFor()
    await tabTo(page.getByRole('button', { name: 'Revoke application' }))
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(() => page.getByRole('dialog').count(), timeout).toBe(0)
    expect(await focused()).toBe('Revoke application')
    await page.keyboard.press('Enter')
    await tabTo(page.getByRole('dialog').getByRole('button', { name: 'Cancel' }))
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByText('The application was revoked').waitFor()
    expect(await tokenStatus(service, clientId, clientSecret)).toBe(401)
  })

  it('everything but copying and sending requests works without JavaScript', async () => {
    const service = await startServiceWithPortal()
    const page = await openPage({ javaScriptEnabled: false })
    await joinAsFirst(page, service)
    await createProjectAndApplication(page)
    expect(await page.getByRole('button', { name: 'Copy' }).count()).toBe(0)
    const { clientId, clientSecret } = await credentials(page)
    await page.getByText('TypeScript', { exact: true }).click()
    await page.getByText('createTokenFetch(').waitFor()
    await page.reload()
    expect(await page.locator('#client-secret').count()).toBe(0)
    await openTab(page, 'Settings')
    await confirm(page, 'Revoke application', 'Revoke application')
    await page.getByText('The application was revoked').waitFor()
    expect(await tokenStatus(service, clientId, clientSecret)).toBe(401)
  })
})
