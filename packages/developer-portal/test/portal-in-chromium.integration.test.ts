import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { Browser, Page } from 'playwright-core'
import { developerPortal } from '@tokenwell/developer-portal'
import { startTokenService, type RunningTokenService } from '@tokenwell/token-service'
import { introspect, requestToken, resourceServer } from '../../token-service/test/test-service.ts'
import { chromiumIsAbsent, inspectPage, launchChromium, openPage, timeout, withChromium } from './chromium.ts'
import { password } from './portal-browser.ts'

async function start(): Promise<RunningTokenService> {
  const service = await startTokenService({ resourceServers: [resourceServer], portal: developerPortal })
  onTestFinished(() => service.close())
  return service
}

async function joinAsFirst(page: Page, service: RunningTokenService): Promise<void> {
  await page.goto((await service.createSetupLink()) ?? '')
  await page.getByLabel('Name').fill('Ada')
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Join' }).click()
  await page.getByRole('heading', { name: 'Projects' }).waitFor()
}

async function createProjectAndApplication(page: Page, product?: string): Promise<void> {
  await page.getByRole('link', { name: 'New project' }).click()
  await page.getByLabel('Project name').fill('Speech')
  await page.getByLabel('Organization').fill('Example')
  await page.getByLabel('Developer e-mail').fill('ada@example.com')
  await page.getByRole('button', { name: 'Create project' }).click()
  await page.getByRole('link', { name: 'New application' }).click()
  await page.getByLabel('Application name').fill('Transcriber')
  await page.getByLabel('Level').fill('gold')
  for (const box of await page.getByRole('checkbox').all()) {
    await box.setChecked(product === undefined || (await box.getAttribute('value')) === product)
  }
  await page.getByRole('button', { name: 'Create application' }).click()
}

const clipboard = (page: Page) => page.evaluate<string>('navigator.clipboard.readText()')

async function copied(page: Page, what: string): Promise<string> {
  // Other buttons may still show "Copied".
  await page.evaluate("navigator.clipboard.writeText('')")
  await page.getByRole('button', { name: `Copy the ${what}` }).click()
  await page.getByText('Copied').first().waitFor()
  await expect.poll(() => clipboard(page), timeout).not.toBe('')
  return clipboard(page)
}

async function productsOf(service: RunningTokenService, clientId: string, clientSecret: string) {
  const { body } = await requestToken(service.authUrl, { clientId, clientSecret } as never)
  return { token: body.access_token as string, products: body.api_product_list_json as string[] }
}

const tokenStatus = async (service: RunningTokenService, clientId: string, clientSecret: string) =>
  (await requestToken(service.authUrl, { clientId, clientSecret } as never)).status

describe.skipIf(chromiumIsAbsent)(withChromium, () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launchChromium()
  })
  afterAll(() => browser?.close())

  it(
    'a developer joins, registers an application, gets a token, rotates its secret and revokes the old one',
    { timeout: 180_000 },
    async () => {
      const service = await start()
      const page = await openPage(browser)
      await page.goto(`${service.authUrl}/portal`)
      await inspectPage(page, 'log-in-without-developers')
      const link = (await service.createSetupLink()) ?? ''
      await page.goto(link)
      await inspectPage(page, 'join')
      await joinAsFirst(page, service)
      await inspectPage(page, 'projects-empty')

      await page.getByRole('button', { name: 'Log out' }).click()
      await page.getByLabel('Name').fill('ada')
      await page.getByLabel('Password').fill('not this one')
      await page.getByRole('button', { name: 'Log in' }).click()
      await page.getByRole('alert').waitFor()
      await inspectPage(page, 'log-in-rejected')
      await page.getByLabel('Password').fill(password)
      await page.getByRole('button', { name: 'Log in' }).click()

      await createProjectAndApplication(page)
      await inspectPage(page, 'secret')
      const clientId = await copied(page, 'client ID')
      const first = await copied(page, 'client secret')
      expect(await page.locator('#client-secret').textContent()).toBe(first)

      await page.goto(`${service.authUrl}/reference`)
      await inspectPage(page, 'reference')
      const get = page.locator('form[data-operation="getAccessToken"]')
      await get.getByLabel('client_id').fill(clientId)
      await get.getByLabel('client_secret').fill(first)
      await get.getByRole('button').click()
      const response = page.getByRole('region', { name: 'Response to Get Access Token' })
      await response.getByText(/^200 OK after/).waitFor()
      expect(await response.textContent()).toMatch(/"access_token": "•+"/)
      await inspectPage(page, 'reference-response')
      await response.getByRole('button', { name: 'Copy token' }).click()
      await response.getByText('Copied').waitFor()
      const token = await clipboard(page)
      expect(await response.textContent()).not.toContain(token)
      await response.getByRole('button', { name: 'Show token' }).click()
      expect(await response.textContent()).toContain(token)
      expect((await introspect(service.authUrl, token)).body).toMatchObject({
        active: true,
        client_id: clientId,
      })

      const introspection = page.locator('form[data-operation="introspectToken"]')
      await introspection.getByLabel('client_id').fill(resourceServer.clientId)
      await introspection.getByLabel('client_secret').fill(resourceServer.clientSecret)
      await introspection.getByRole('button').click()
      await page
        .getByRole('region', { name: 'Response to Introspect Token' })
        .getByText('"active": true')
        .waitFor()
      await page.locator('form[data-operation="revokeToken"]').getByRole('button').click()
      await page.getByRole('region', { name: 'Response to Revoke Token' }).getByText('200 OK').waitFor()
      await introspection.getByRole('button').click()
      await page
        .getByRole('region', { name: 'Response to Introspect Token' })
        .getByText('"active": false')
        .waitFor()

      await page.goto(`${service.authUrl}/portal/projects`)
      await inspectPage(page, 'projects')
      expect(await page.content()).toContain(`${first.slice(0, 4)}…`)
      expect(await page.content()).not.toContain(first)
      await page.getByRole('link', { name: 'Speech' }).click()
      await inspectPage(page, 'project')
      await page.getByRole('link', { name: 'Transcriber' }).click()
      expect(await page.locator('#usage-summary').textContent()).toContain('1 in the last 30 days')
      await inspectPage(page, 'application')

      await page.getByLabel('Existing secrets expire').selectOption('never (revoke them later)')
      await page.getByRole('button', { name: 'Create a new secret' }).click()
      const second = await copied(page, 'client secret')
      expect(second).not.toBe(first)
      expect(await tokenStatus(service, clientId, first)).toBe(200)
      expect(await tokenStatus(service, clientId, second)).toBe(200)

      await page.getByRole('link', { name: 'Continue to the application' }).click()
      const old = page.getByRole('listitem').filter({ hasText: `${first.slice(0, 4)}…` })
      await old.locator('summary').click()
      await inspectPage(page, 'revoke-a-secret')
      await old.getByRole('button', { name: 'Revoke this secret' }).click()
      await expect.poll(() => page.getByText(`${first.slice(0, 4)}…`).count(), timeout).toBe(0)
      expect(await tokenStatus(service, clientId, first)).toBe(401)
      expect(await tokenStatus(service, clientId, second)).toBe(200)

      await page.locator('summary', { hasText: 'Revoke application' }).click()
      await page.getByRole('button', { name: 'Revoke application' }).click()
      await page.getByRole('button', { name: 'Approve application' }).waitFor()
      await inspectPage(page, 'application-revoked')
      expect(await tokenStatus(service, clientId, second)).toBe(401)
      await page.getByRole('button', { name: 'Approve application' }).click()
      await page.getByText('approved', { exact: true }).waitFor()
      expect(await tokenStatus(service, clientId, second)).toBe(200)
    },
  )

  it('the other pages are accessible', { timeout: 120_000 }, async () => {
    const service = await start()
    const page = await openPage(browser)
    await joinAsFirst(page, service)
    await createProjectAndApplication(page)
    await page.getByRole('link', { name: 'Continue to the application' }).click()
    await page.getByRole('link', { name: 'Change settings' }).click()
    await page.getByLabel('Token lifetime').fill('0')
    await page.getByRole('button', { name: 'Save' }).click()
    await inspectPage(page, 'settings-error')
    await page.goto(`${service.authUrl}/portal/new-project`)
    await inspectPage(page, 'new-project')
    await page.goto(`${service.authUrl}/portal/developers`)
    await page.getByRole('button', { name: 'Create an invitation link' }).click()
    await inspectPage(page, 'developers')
    expect(await copied(page, 'link')).toMatch(/\/portal\/join\/[\w-]{43}$/)
    const grace = await openPage(browser)
    await grace.goto(await clipboard(page))
    await grace.getByLabel('Name').fill('Grace')
    await grace.getByLabel('Password').fill(password)
    await grace.getByRole('button', { name: 'Join' }).click()
    await grace.getByText('You have no projects yet').waitFor()
    await page.goto(`${service.authUrl}/portal/developers`)
    await page.locator('summary', { hasText: 'Reset password' }).click()
    await page.getByRole('button', { name: 'Create a link', exact: true }).click()
    await grace.goto(new URL((await page.locator('#link').textContent()) ?? '').href)
    await inspectPage(grace, 'new-password')
    await grace.getByLabel('New password').fill(`another ${password}`)
    await grace.getByRole('button', { name: 'Set password' }).click()
    await grace.getByText('You have no projects yet').waitFor()
    await page.locator('summary', { hasText: 'Remove' }).click()
    await inspectPage(page, 'remove-a-developer')
    await page.getByRole('button', { name: 'Remove developer' }).click()
    await expect.poll(() => page.getByText('grace').count(), timeout).toBe(0)
    await page.goto(`${service.authUrl}/portal/account`)
    await inspectPage(page, 'account')
    await page.goto(`${service.authUrl}/portal/nowhere`)
    await inspectPage(page, 'not-found')
  })

  it(
    'a developer widens an approved application, and gets more after the administrator approves',
    { timeout: 120_000 },
    async () => {
      const service = await start()
      const page = await openPage(browser)
      await joinAsFirst(page, service)
      await page.goto(`${service.authUrl}/portal/products`)
      await page.getByLabel('Product name').fill('payroll')
      await page.getByRole('button', { name: 'Add product' }).click()
      await page.getByRole('button', { name: 'Remove payroll' }).waitFor()
      await inspectPage(page, 'products')
      await page.goto(`${service.authUrl}/portal/developers`)
      await page.getByRole('button', { name: 'Create an invitation link' }).click()
      const grace = await openPage(browser)
      await grace.goto(await copied(page, 'link'))
      await grace.getByLabel('Name').fill('Grace')
      await grace.getByLabel('Password').fill(password)
      await grace.getByRole('button', { name: 'Join' }).click()
      await createProjectAndApplication(grace, 'speech-to-text')
      const clientId = (await grace.locator('#client-id').textContent()) ?? ''
      const clientSecret = (await grace.locator('#client-secret').textContent()) ?? ''
      await grace.getByRole('link', { name: 'Continue to the application' }).click()
      await page.goto(grace.url())
      await page.getByRole('button', { name: 'Approve application' }).click()
      await page.getByText('approved', { exact: true }).waitFor()
      const tokens = [await productsOf(service, clientId, clientSecret)]

      await grace.getByRole('link', { name: 'Change settings' }).click()
      await grace.getByLabel('payroll').check()
      await grace.getByLabel('Token lifetime').fill('31536000')
      await grace.getByRole('button', { name: 'Save' }).click()
      await grace.getByText('changes pending approval').waitFor()
      await inspectPage(grace, 'application-with-request')
      tokens.push(await productsOf(service, clientId, clientSecret))
      for (const { token, products } of tokens) {
        expect(products).toEqual(['speech-to-text'])
        expect((await introspect(service.authUrl, token)).body.api_products).toEqual(['speech-to-text'])
      }
      await page.reload()
      await page.getByRole('button', { name: 'Approve changes' }).click()
      await expect.poll(() => page.getByText('pending approval').count(), timeout).toBe(0)
      expect((await productsOf(service, clientId, clientSecret)).products).toEqual([
        'payroll',
        'speech-to-text',
      ])
    },
  )

  it('everything but copying works without JavaScript', { timeout: 120_000 }, async () => {
    const service = await start()
    const page = await openPage(browser, { javaScriptEnabled: false })
    await joinAsFirst(page, service)
    await createProjectAndApplication(page)
    expect(await page.getByRole('button', { name: 'Copy' }).count()).toBe(0)
    const clientId = (await page.locator('#client-id').textContent()) ?? ''
    const clientSecret = (await page.locator('#client-secret').textContent()) ?? ''
    await page.reload()
    expect(await page.locator('#client-secret').count()).toBe(0)

    await page.goto(`${service.authUrl}/reference`)
    const get = page.locator('form[data-operation="getAccessToken"]')
    await get.getByLabel('client_id').fill(clientId)
    await get.getByLabel('client_secret').fill(clientSecret)
    await get.getByRole('button').click()
    await expect.poll(() => page.content(), timeout).toContain('access_token')
  })
})
