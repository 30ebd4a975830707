import { execFile } from 'node:child_process'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { Browser, Page } from 'playwright-core'
import { developerPortal } from '@tokenwell/developer-portal'
import { startTokenService, type RunningTokenService } from '@tokenwell/token-service'
import { introspect, requestToken, resourceServer } from '../../token-service/test/test-service.ts'
import { hasChromium, inspectPage, looks, openBrowser, openPage, timeout, inChromium } from './chromium.ts'
import { password, useCheapPasswords } from './portal-browser.ts'

const run = promisify(execFile)

useCheapPasswords()

async function start(): Promise<RunningTokenService> {
  const products = ['sms', 'speech-to-text']
  const service = await startTokenService({
    resourceServers: [resourceServer],
    portal: developerPortal,
    products,
  })
  onTestFinished(() => service.close())
  return service
}

async function join(page: Page, link: string, name = 'Ada'): Promise<void> {
  await page.goto(link)
  await page.getByLabel('Name').fill(name)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Join' }).click()
  await page.getByRole('heading', { name: 'Get started' }).waitFor()
}

const joinAsFirst = async (page: Page, service: RunningTokenService) =>
  join(page, (await service.createSetupLink()) ?? '')

/** By the first-run page. */
async function createProjectAndApplication(page: Page, name = 'Transcriber'): Promise<void> {
  await page.getByLabel('Project name').fill('Speech')
  await page.getByRole('button', { name: 'Create project' }).click()
  await page.getByRole('status').getByText('The project was created').waitFor()
  await page.getByLabel('Application name').fill(name)
  await page.getByRole('button', { name: 'Create application' }).click()
  await page.getByRole('heading', { name: 'Copy the secret now' }).waitFor()
}

const credentials = async (page: Page) => ({
  clientId: (await page.locator('#client-id').textContent()) ?? '',
  clientSecret: (await page.locator('#client-secret').textContent()) ?? '',
})

const clipboard = (page: Page) => page.evaluate<string>('navigator.clipboard.readText()')

async function copied(page: Page, button: string): Promise<string> {
  // Other buttons may still show "Copied".
  await page.evaluate("navigator.clipboard.writeText('')")
  await page.getByRole('button', { name: button }).click()
  await expect.poll(() => clipboard(page), timeout).not.toBe('')
  return clipboard(page)
}

async function confirm(page: Page, button: string, confirmation: string): Promise<void> {
  await page.getByRole('button', { name: button, exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.waitFor()
  await dialog.getByRole('button', { name: confirmation }).click()
}

const tokenStatus = async (service: RunningTokenService, clientId: string, clientSecret: string) =>
  (await requestToken(service.authUrl, { clientId, clientSecret } as never)).status

describe.skipIf(!hasChromium)(inChromium, () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser?.close())

  it(
    'a new developer gets the first token with the copied curl snippet, and sees it in the portal',
    { timeout: 180_000 },
    async () => {
      const service = await start()
      const page = await openPage(browser)
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
      const { stdout } = await run('sh', ['-c', await copied(page, 'Copy the curl snippet')])
      const { access_token: token } = JSON.parse(stdout)
      expect((await introspect(service.authUrl, token)).body).toMatchObject({
        active: true,
        client_id: clientId,
      })

      await page.goto(`${service.authUrl}/portal/get-started`)
      await page.getByText('You have your first token').waitFor()
      await inspectPage(page, 'get-started-done')
      await page.goto(`${service.authUrl}/portal`)
      await page.getByRole('heading', { name: 'Projects' }).waitFor()
      await inspectPage(page, 'projects')
      expect(await page.content()).not.toContain(clientSecret)
      await tokenStatus(service, clientId, 'a wrong secret')
      await page.getByRole('link', { name: 'Transcriber' }).click()
      await page.locator('#usage-summary').waitFor()
      expect(await page.locator('#usage-summary').innerText()).toMatch(/1 issued\s+1 failed/)
      const failure = page.getByRole('row').filter({ hasText: '127.0.0.1' }).first()
      expect(await failure.innerText()).toContain('Invalid credentials')
      await inspectPage(page, 'application')
      await page.getByRole('link', { name: '30 days' }).click()
      await page.getByText('in the last 30 days').waitFor()
      await inspectPage(page, 'application-30-days')
    },
  )

  it('a secret is rotated without an outage, then revoked', { timeout: 120_000 }, async () => {
    const service = await start()
    const page = await openPage(browser)
    await joinAsFirst(page, service)
    await createProjectAndApplication(page)
    const { clientId, clientSecret: first } = await credentials(page)
    // A client that requests tokens all the time, and gets the new secret by a deployment.
    let secret = first
    const statuses: number[] = []
    const running = new AbortController()
    const client = (async () => {
      while (!running.signal.aborted) {
        statuses.push(await tokenStatus(service, clientId, secret))
        await setTimeout(10)
      }
    })()

    await page.getByRole('link', { name: 'Continue to the application' }).click()
    await page.getByRole('button', { name: 'Rotate secret' }).click()
    await page.getByRole('dialog').waitFor()
    await inspectPage(page, 'rotate')
    await page.getByLabel('Existing secrets expire').selectOption('in 1 day')
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click()
    await page.getByText('The existing secrets expire in 1 day').waitFor()
    await inspectPage(page, 'new-secret')
    const { clientSecret: second } = await credentials(page)
    expect(second).not.toBe(first)
    secret = second
    await page.getByRole('link', { name: 'Continue to the application' }).click()
    await page.getByRole('button', { name: `Revoke the secret ${first.slice(0, 4)}…` }).click()
    await page.getByRole('dialog').waitFor()
    await inspectPage(page, 'revoke')
    await page.getByRole('button', { name: 'Revoke secret' }).click()
    await page.getByRole('status').getByText('The secret was revoked').waitFor()
    await page.reload()
    expect(await page.getByText('The secret was revoked').count()).toBe(0)
    running.abort()
    await client
    expect(new Set(statuses)).toEqual(new Set([200]))
    expect(await tokenStatus(service, clientId, first)).toBe(401)
    expect(await tokenStatus(service, clientId, second)).toBe(200)

    await confirm(page, 'Revoke application', 'Revoke application')
    await page.getByRole('status').getByText('was revoked').waitFor()
    await inspectPage(page, 'application-revoked')
    expect(await tokenStatus(service, clientId, second)).toBe(401)
    await page.getByRole('button', { name: 'Approve Transcriber' }).click()
    await page.getByText('The application is approved').waitFor()
    expect(await tokenStatus(service, clientId, second)).toBe(200)

    await confirm(page, 'Delete application', 'Delete application')
    await page.getByText('It can be restored until').waitFor()
    await inspectPage(page, 'application-deleted')
    expect(await tokenStatus(service, clientId, second)).toBe(401)
    await page.getByRole('button', { name: 'Restore application' }).click()
    await page.getByText('The application was restored').waitFor()
    expect(await tokenStatus(service, clientId, second)).toBe(200)
  })

  it('an administrator approves from a phone, later requests included', { timeout: 180_000 }, async () => {
    const service = await start()
    const phone = await openPage(browser, { viewport: { width: 390, height: 844 } })
    await joinAsFirst(phone, service)
    const open = async (name: string) => {
      await phone.getByRole('button', { name: 'Menu' }).click()
      await phone.getByRole('link', { name }).click()
    }
    await open('People')
    await phone.getByRole('button', { name: 'Invite developer' }).click()
    await inspectPage(phone, 'invited')
    const link = await copied(phone, 'Copy the link')
    expect(link).toMatch(/\/portal\/join\/[\w-]{43}$/)
    const grace = await openPage(browser)
    await join(grace, link, 'Grace')
    await createProjectAndApplication(grace)
    const { clientId, clientSecret } = await credentials(grace)
    await grace.getByRole('link', { name: 'Continue to the application' }).click()
    await inspectPage(grace, 'application-pending')
    expect(await tokenStatus(service, clientId, clientSecret)).toBe(401)

    await phone.goto(`${service.authUrl}/portal/projects`)
    await phone.getByRole('button', { name: 'Menu' }).click()
    await inspectPage(phone, 'menu')
    await phone.reload()
    await open('Approvals 1 waiting')
    await inspectPage(phone, 'approvals')
    expect(await phone.getByRole('main').innerText()).toContain('grace')
    await phone.getByRole('button', { name: 'Approve Transcriber' }).click()
    await phone.getByText('No pending approvals').waitFor()
    await inspectPage(phone, 'approvals-empty')
    const { body: token } = await requestToken(service.authUrl, { clientId, clientSecret } as never)
    const productsOf = async () => (await introspect(service.authUrl, token.access_token)).body.api_products
    expect(await productsOf()).toEqual(['sms'])

    await grace.reload()
    await grace.getByRole('link', { name: 'Edit settings' }).click()
    await grace.getByLabel('speech-to-text').check()
    await grace.getByLabel('Token lifetime', { exact: true }).fill('0')
    await grace.getByRole('button', { name: 'Save' }).click()
    expect(await grace.getByText('Enter at least 1 second.').count()).toBe(1)
    await inspectPage(grace, 'settings-error')
    await grace.getByLabel('Token lifetime', { exact: true }).fill('365')
    await grace.getByLabel('Unit of the token lifetime').selectOption('days')
    await grace.getByRole('button', { name: 'Save' }).click()
    await grace.getByText('The changes were requested').waitFor()
    await inspectPage(grace, 'application-with-request')
    const second = await requestToken(service.authUrl, { clientId, clientSecret } as never)
    expect(second.body.api_product_list_json).toEqual(['sms'])
    expect(await productsOf()).toEqual(['sms'])
    await phone.goto(grace.url())
    await phone.getByRole('button', { name: 'Approve changes to Transcriber' }).click()
    await phone.getByText('The changes are approved').waitFor()
    const third = await requestToken(service.authUrl, { clientId, clientSecret } as never)
    expect(third.body.api_product_list_json).toEqual(['sms', 'speech-to-text'])
    expect(await productsOf()).toEqual(['sms'])
  })

  it('the pages for administrators work and are accessible', { timeout: 240_000 }, async () => {
    const service = await start()
    const page = await openPage(browser)
    await joinAsFirst(page, service)
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.getByText('You are logged out').waitFor()
    await page.goto(`${service.authUrl}/portal/new-project`)
    await page.getByLabel('Name').fill('ada')
    await page.getByLabel('Password').fill('not this one')
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.getByText('The name or password is incorrect').waitFor()
    await inspectPage(page, 'log-in-rejected')
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Log in' }).click()
    // The link that led to the login page.
    await page.getByRole('heading', { name: 'New project' }).waitFor()
    await inspectPage(page, 'new-project')
    for (const name of ['Speech', 'Billing']) {
      await page.goto(`${service.authUrl}/portal/new-project`)
      await page.getByLabel('Project name').fill(name)
      await page.getByRole('button', { name: 'Create project' }).click()
      await page.getByText('The project was created').waitFor()
    }
    await page.getByRole('link', { name: 'New application' }).click()
    await inspectPage(page, 'new-application')
    await page.getByLabel('Application name').fill('Invoices')
    await page.getByRole('button', { name: 'Create application' }).click()
    await page.getByRole('link', { name: 'Continue to the application' }).click()
    await confirm(page, 'Move', 'Move application')
    await page.getByText('The application was moved').waitFor()
    await page.getByRole('link', { name: 'Speech' }).click()
    await page.getByRole('link', { name: 'Invoices' }).waitFor()
    await inspectPage(page, 'project')
    await page.getByRole('link', { name: 'Edit project' }).click()
    await page.getByLabel('Organisation').fill('Example')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The project was saved').waitFor()
    await confirm(page, 'Delete project', 'Delete project')
    await page.getByText('It can be restored until').waitFor()
    await page.getByRole('button', { name: 'Restore project' }).click()
    await page.getByText('The project was restored').waitFor()

    await page.getByRole('link', { name: 'API products' }).click()
    await page.getByLabel('Product name').fill('payroll')
    await page.getByRole('button', { name: 'Add product' }).click()
    await page.getByText('The product was added').waitFor()
    await inspectPage(page, 'products')
    await confirm(page, 'Remove payroll', 'Remove product')
    await page.getByText('The product was removed').waitFor()

    await page.getByRole('link', { name: 'People' }).click()
    await page.getByRole('button', { name: 'Invite developer' }).click()
    const grace = await openPage(browser)
    await join(grace, (await page.locator('#link').textContent()) ?? '', 'Grace')
    await page.goto(`${service.authUrl}/portal/projects`)
    await page.getByRole('link', { name: 'Speech' }).click()
    await confirm(page, 'Add owner', 'Add owner')
    await page.getByText('The owner was added').waitFor()
    await grace.goto(page.url())
    await grace.getByRole('heading', { name: 'Speech' }).waitFor()
    await confirm(page, 'Remove grace', 'Remove owner')
    await page.getByText('The owner was removed').waitFor()
    await page.getByRole('link', { name: 'People' }).click()
    await page.getByRole('button', { name: 'Reset password of grace' }).click()
    await inspectPage(page, 'people')
    await page.getByRole('button', { name: 'Create link' }).click()
    await grace.goto((await page.locator('#link').textContent()) ?? '')
    await inspectPage(grace, 'new-password')
    await grace.getByLabel('New password').fill(`another ${password}`)
    await grace.getByRole('button', { name: 'Set password' }).click()
    await grace.getByRole('heading', { name: 'Get started' }).waitFor()
    await confirm(page, 'Remove grace', 'Remove developer')
    await page.getByText('The developer was removed').waitFor()

    await page.getByRole('link', { name: 'Resource servers' }).click()
    await page.getByLabel('Name of the API').fill('Speech API')
    await page.getByRole('button', { name: 'Register' }).click()
    await page.getByRole('heading', { name: 'Copy the secret now' }).waitFor()
    await inspectPage(page, 'resource-server-secret')
    await page.getByRole('link', { name: 'Continue to the resource server' }).click()
    await confirm(page, 'Rotate secret', 'Rotate secret')
    await page.getByText('The existing secrets expire in 1 day').waitFor()
    await page.getByRole('link', { name: 'Continue to the resource server' }).click()
    await page.getByLabel('Name of the API').fill('Voice API')
    await page.getByRole('button', { name: 'Rename' }).click()
    await page.getByText('The resource server was renamed').waitFor()
    await page.getByRole('button', { name: 'Revoke' }).first().click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke secret' }).click()
    await page.getByText('The secret was revoked').waitFor()
    await inspectPage(page, 'resource-server')
    await page.getByRole('link', { name: 'Resource servers' }).first().click()
    await page.getByRole('link', { name: 'Voice API' }).waitFor()
    await inspectPage(page, 'resource-servers')
    await page.goto(`${service.authUrl}/portal/projects`)
    await page.getByRole('link', { name: 'Invoices' }).click()
    await page.getByRole('link', { name: 'Add public key' }).click()
    await page.getByLabel('Public key').fill('nonsense')
    await page.getByRole('button', { name: 'Add public key' }).click()
    await page.locator('#key-error').waitFor()
    await inspectPage(page, 'add-key')

    await page.getByRole('link', { name: 'Audit log' }).click()
    await page.getByLabel('Event').fill('owner_added')
    await page.getByRole('button', { name: 'Filter' }).click()
    await page.getByText('1 entry,').waitFor()
    await inspectPage(page, 'audit')
    const download = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Export' }).click()
    expect((await download).suggestedFilename()).toBe('audit.jsonl')
    await page.goto(`${service.authUrl}/portal/account`)
    await inspectPage(page, 'account')
    await page.goto(`${service.authUrl}/portal/nowhere`)
    await inspectPage(page, 'not-found')
  })

  it('works with the keyboard alone', { timeout: 60_000 }, async () => {
    const service = await start()
    const page = await openPage(browser)
    await joinAsFirst(page, service)
    const focused = () =>
      page.evaluate<string>('document.activeElement.innerText || document.activeElement.name')
    const tabTo = async (name: string) => {
      for (let step = 0; step < 60; step += 1) {
        if ((await focused()).startsWith(name)) return
        await page.keyboard.press('Tab')
      }
      throw new Error(`${name} cannot be reached.`)
    }
    await page.keyboard.press('Tab')
    expect(await focused()).toBe('Skip to content')
    await page.keyboard.press('Enter')
    await tabTo('name')
    await page.keyboard.type('Speech')
    await page.keyboard.press('Enter')
    await page.getByText('The project was created').waitFor()
    await tabTo('name')
    await page.keyboard.type('Transcriber')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Copy the secret now' }).waitFor()
    const { clientId, clientSecret } = await credentials(page)
    await tabTo('snippet')
    await page.keyboard.press('ArrowRight')
    await page.getByRole('region', { name: 'TypeScript' }).waitFor()
    await tabTo('Continue to the application')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Credentials' }).waitFor()
    await tabTo('Revoke application')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(() => page.getByRole('dialog').count(), timeout).toBe(0)
    expect(await focused()).toBe('Revoke application')
    await page.keyboard.press('Enter')
    await tabTo('Cancel')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByText('The application was revoked').waitFor()
    expect(await tokenStatus(service, clientId, clientSecret)).toBe(401)
  })

  it('the reference sends real requests, and passes the token on', { timeout: 240_000 }, async () => {
    const service = await start()
    const page = await openPage(browser)
    await joinAsFirst(page, service)
    await createProjectAndApplication(page)
    const { clientId, clientSecret } = await credentials(page)
    await page.goto(`${service.authUrl}/reference`)
    expect(new URL(page.url()).pathname).toBe('/portal/reference')
    await page.getByRole('heading', { name: 'Get Access Token' }).waitFor()
    // Still logged in.
    await page.getByRole('link', { name: 'ada' }).waitFor()
    await inspectPage(page, 'reference', looks.narrow)
    const dialog = page.getByRole('dialog')
    const send = async (operation: number, fields: Record<string, string>) => {
      await page.locator('.show-api-client-button').nth(operation).click()
      for (const [name, value] of Object.entries(fields)) {
        await dialog.locator('tr', { hasText: name }).last().locator('[contenteditable]').last().fill(value)
      }
      await dialog.getByRole('button', { name: 'Send' }).first().click()
      await dialog.getByText('200 OK').waitFor()
    }
    await send(0, { client_id: clientId, client_secret: clientSecret })
    await dialog.getByText('"access_token"').waitFor()
    await page.getByRole('button', { name: 'Close Client' }).click()
    // The field for the token holds a placeholder for the token of the last request.
    await send(1, { client_id: resourceServer.clientId, client_secret: resourceServer.clientSecret })
    await expect.poll(() => dialog.innerText(), timeout).toMatch(/"active":\s*true/)
    await page.getByRole('button', { name: 'Close Client' }).click()
    // It fades out.
    await page.locator('[contenteditable]:visible').first().waitFor({ state: 'detached' })
    await inspectPage(page, 'reference-loaded', looks.wide)
  })

  it(
    'everything but copying and sending requests works without JavaScript',
    { timeout: 60_000 },
    async () => {
      const service = await start()
      const page = await openPage(browser, { javaScriptEnabled: false })
      await joinAsFirst(page, service)
      await createProjectAndApplication(page)
      expect(await page.getByRole('button', { name: 'Copy' }).count()).toBe(0)
      const { clientId, clientSecret } = await credentials(page)
      await page.getByText('Python', { exact: true }).click()
      await page.getByText('from urllib.parse').waitFor()
      await page.reload()
      expect(await page.locator('#client-secret').count()).toBe(0)
      await confirm(page, 'Revoke application', 'Revoke application')
      await page.getByText('The application was revoked').waitFor()
      expect(await tokenStatus(service, clientId, clientSecret)).toBe(401)
    },
  )
})
