import type { Page } from 'playwright-core'
import { onTestFinished } from 'vitest'
import { copiedText } from '@tokenwell/internal-testing/browser'
import { startTokenService, type RunningTokenService } from '@tokenwell/token-service'
import { requestToken, resourceServer } from '../../test-service.ts'
import { password } from '../portal-browser.ts'

export async function startServiceWithPortal(): Promise<RunningTokenService> {
  const products = ['sms', 'speech-to-text']
  const service = await startTokenService({
    resourceServers: [resourceServer],
    portal: true,
    products,
  })
  onTestFinished(() => service.close())
  return service
}

export async function join(page: Page, link: string, name = 'Ada'): Promise<void> {
  await page.goto(link)
  await page.getByLabel('Name').fill(name)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Join' }).click()
  await page.getByRole('heading', { name: 'Get started' }).waitFor()
}

export const joinAsFirst = async (page: Page, service: RunningTokenService) =>
  join(page, (await service.createSetupLink()) ?? '')

/** By the first-run page. */
export async function createProjectAndApplication(page: Page, name = 'Transcriber'): Promise<void> {
  await page.getByLabel('Project name').fill('Speech')
  await page.getByRole('button', { name: 'Create project' }).click()
  await page.getByRole('status').getByText('The project was created').waitFor()
  await page.getByLabel('Application name').fill(name)
  await page.getByRole('button', { name: 'Create application' }).click()
  await page.getByRole('heading', { name: 'Copy the secret now' }).waitFor()
}

export const credentials = async (page: Page) => ({
  clientId: (await page.locator('#client-id').textContent()) ?? '',
  clientSecret: (await page.locator('#client-secret').textContent()) ?? '',
})

export const copied = (page: Page, button: string) =>
  copiedText(page, () => page.getByRole('button', { name: button }).click())

export async function confirm(page: Page, button: string, confirmation: string): Promise<void> {
  await page.getByRole('button', { name: button, exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.waitFor()
  await dialog.getByRole('button', { name: confirmation }).click()
}

/** Opens a tab of the application's page. */
export async function openTab(page: Page, name: string): Promise<void> {
  await page.getByRole('navigation', { name: 'Application' }).getByRole('link', { name }).click()
  await page
    .getByRole('navigation', { name: 'Application' })
    .locator('[aria-current]', { hasText: name })
    .waitFor()
}

export const tokenStatus = async (service: RunningTokenService, clientId: string, clientSecret: string) =>
  (await requestToken(service.authUrl, { clientId, clientSecret } as never)).status
