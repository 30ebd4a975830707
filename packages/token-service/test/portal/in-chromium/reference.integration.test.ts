import { describe, expect, it } from 'vitest'
import { resourceServer } from '../../test-service.ts'
import { useCheapPasswords } from '../portal-browser.ts'
import { hasChromium, inChromium, inspectPage, looks, timeout, usePages } from './chromium.ts'
import {
  createProjectAndApplication,
  credentials,
  joinAsFirst,
  startServiceWithPortal,
} from './portal-pages.ts'

useCheapPasswords()

describe.skipIf(!hasChromium)(inChromium, () => {
  const openPage = usePages()

  it('the reference sends real requests, and passes the token on', { timeout: 240_000 }, async () => {
    const service = await startServiceWithPortal()
    const page = await openPage()
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
})
