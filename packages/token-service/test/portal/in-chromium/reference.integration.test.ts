import { describe, expect, it } from 'vitest'
import { resourceServer } from '../../test-service.ts'
import { useCheapPasswords } from '../portal-browser.ts'
import {
  hasChromium,
  inChromium,
  inspectPage,
  usePages,
  createProjectAndApplication,
  credentials,
  joinAsFirst,
  startServiceWithPortal,
} from './chromium.ts'

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
    await page.getByRole('heading', { name: 'Get Access Token', exact: true }).waitFor()
    await inspectPage(page, 'reference')
    const send = async (operation: string, fields: Record<string, string>) => {
      const form = page.locator(`form[data-try="${operation}"]`)
      for (const [name, value] of Object.entries(fields)) await form.getByLabel(name).fill(value)
      await form.getByRole('button').click()
      return page.locator(`[data-response="${operation}"]`)
    }
    const issued = await send('getAccessToken', { client_id: clientId, client_secret: clientSecret })
    await issued.getByText('200 OK').waitFor()
    await issued.getByText('"access_token"').waitFor()
    await issued.getByText('Headers').click()
    await issued.getByText('content-type: application/json').waitFor()
    await issued.getByRole('button', { name: 'Use this token in Introspect' }).click()
    expect(await page.evaluate('document.activeElement.name')).toBe('client_id')
    const introspected = await send('introspectToken', {
      client_id: resourceServer.clientId,
      client_secret: resourceServer.clientSecret,
    })
    await introspected.getByText('"active": true').waitFor()
    const rejected = await send('revokeToken', { client_id: clientId, client_secret: 'wrong' })
    await rejected.getByText('401').waitFor()
    await inspectPage(page, 'reference-used')
  })

  it('the reference sends a request without JavaScript, and shows the response as a page', async () => {
    const service = await startServiceWithPortal()
    const page = await openPage({ javaScriptEnabled: false })
    await joinAsFirst(page, service)
    await createProjectAndApplication(page)
    const { clientId, clientSecret } = await credentials(page)
    await page.goto(`${service.authUrl}/portal/reference`)
    const form = page.locator('form[data-try="getAccessToken"]')
    await form.getByLabel('client_id').fill(clientId)
    await form.getByLabel('client_secret').fill(clientSecret)
    await form.getByRole('button').click()
    await page.getByText('"access_token"').waitFor()
  })
})
