import { describe, expect, it } from 'vitest'
import { useCheapPasswords } from '../portal-browser.ts'
import {
  hasChromium,
  inChromium,
  inspectPage,
  usePages,
  createProjectAndApplication,
  joinAsFirst,
  startServiceWithPortal,
} from './chromium.ts'

useCheapPasswords()

describe.skipIf(!hasChromium)(inChromium, () => {
  const openPage = usePages()

  it('the reference sends real requests, and passes the token on', async () => {
    const service = await startServiceWithPortal()
    const page = await openPage()
    await joinAsFirst(page, service)
    await createProjectAndApplication(page)
    await page.goto(`${service.authUrl}/reference`)
    expect(new URL(page.url()).pathname).toBe('/portal/reference')
    await page.getByRole('heading', { name: 'Get Access Token', exact: true }).waitFor()
    await inspectPage(page, 'reference')
    const send = async (operation: string) => {
      await page.locator(`form[data-try="${operation}"]`).getByRole('button').click()
      return page.locator(`[data-response="${operation}"]`)
    }
    const issued = await send('getAccessToken')
    await issued.getByText('200 OK').waitFor()
    await issued.getByText('"access_token"').waitFor()
    await issued.getByText('Headers').click()
    await issued.getByText('content-type: application/json').waitFor()
    await issued.getByRole('button', { name: 'Use this token in Introspect' }).click()
    expect(await page.evaluate('document.activeElement.textContent')).toContain('Introspect')
    await (await send('introspectToken')).getByText('"active": true').waitFor()
    await (await send('revokeToken')).getByText('200').waitFor()
    await (await send('introspectToken')).getByText('"active": false').waitFor()
    await inspectPage(page, 'reference-used')
  })

  it('the reference sends a request without JavaScript, and shows the response as a page', async () => {
    const service = await startServiceWithPortal()
    const page = await openPage({ javaScriptEnabled: false })
    await joinAsFirst(page, service)
    await createProjectAndApplication(page)
    await page.goto(`${service.authUrl}/portal/reference`)
    const form = page.locator('form[data-try="getAccessToken"]')
    await form.getByRole('button').click()
    await page.getByText('"access_token"').waitFor()
  })
})
