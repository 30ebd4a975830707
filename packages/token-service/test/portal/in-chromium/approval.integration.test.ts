import { describe, expect, it } from 'vitest'
import { introspect, requestToken } from '../../test-service.ts'
import { useCheapPasswords } from '../portal-browser.ts'
import {
  hasChromium,
  inChromium,
  inspectPage,
  usePages,
  copied,
  createProjectAndApplication,
  credentials,
  join,
  joinAsFirst,
  openTab,
  startServiceWithPortal,
  tokenStatus,
} from './chromium.ts'

useCheapPasswords()

describe.skipIf(!hasChromium)(inChromium, () => {
  const openPage = usePages()

  it('an administrator approves from a phone, later requests included', async () => {
    const service = await startServiceWithPortal()
    const phone = await openPage({ viewport: { width: 390, height: 844 } })
    await joinAsFirst(phone, service)
    const open = async (name: string) => {
      await phone.getByRole('button', { name: 'Menu' }).click()
      await phone.getByRole('link', { name }).click()
    }
    await open('People')
    await phone.getByRole('button', { name: 'Invite developer' }).click()
    await phone.getByLabel('For', { exact: true }).fill('Grace')
    await phone.getByRole('button', { name: 'Create link' }).click()
    await phone.getByText('Send this link to Grace').waitFor()
    await inspectPage(phone, 'invited')
    const link = await copied(phone, 'Copy the link')
    expect(link).toMatch(/\/portal\/join\/[\w-]{43}$/)
    const grace = await openPage()
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
    // Declined by mistake, and undone.
    await phone.getByRole('link', { name: 'Transcriber', exact: true }).click()
    await phone.getByRole('link', { name: 'Decline Transcriber' }).click()
    await inspectPage(phone, 'decline')
    await phone.getByLabel('Reason').fill('Which team uses it?')
    await phone.getByRole('button', { name: 'Decline' }).click()
    await phone.getByText('was declined').waitFor()
    await inspectPage(phone, 'approvals-declined')
    await grace.reload()
    await grace.getByText('An administrator declined the application: Which team uses it?').waitFor()
    await inspectPage(grace, 'application-declined')
    await phone.getByRole('button', { name: 'Undo' }).click()
    await phone.getByRole('button', { name: 'Approve Transcriber' }).click()
    await phone.getByText('No pending approvals').waitFor()
    await inspectPage(phone, 'approvals-empty')
    const { body: token } = await requestToken(service.authUrl, { clientId, clientSecret } as never)
    const productsOf = async () => (await introspect(service.authUrl, token.access_token)).body.api_products
    expect(await productsOf()).toEqual(['sms'])

    await grace.reload()
    await openTab(grace, 'Settings')
    await grace.getByLabel('speech-to-text').check()
    await grace.getByLabel('Token lifetime', { exact: true }).fill('0')
    await grace.getByRole('button', { name: 'Save' }).click()
    expect(await grace.getByText('Enter at least 1 second.').count()).toBe(1)
    await inspectPage(grace, 'settings-error')
    await grace.getByLabel('Token lifetime', { exact: true }).fill('365')
    await grace.getByLabel('Unit of the token lifetime').selectOption('days')
    await grace.getByLabel('Note to the administrators').fill('The archive needs a year.\nIt is read once.')
    await grace.getByRole('button', { name: 'Save' }).click()
    await grace.getByText('The changes were requested').waitFor()
    await inspectPage(grace, 'application-with-request')
    const second = await requestToken(service.authUrl, { clientId, clientSecret } as never)
    expect(second.body.api_product_list_json).toEqual(['sms'])
    expect(await productsOf()).toEqual(['sms'])
    await phone.goto(`${service.authUrl}/portal/approvals`)
    await inspectPage(phone, 'approvals-changes')
    // A second click there must not decide on anything.
    const all = phone.locator('[data-select-all]')
    const before = await all.boundingBox()
    await all.check()
    await inspectPage(phone, 'approvals-selected')
    expect(await all.boundingBox()).toEqual(before)
    await phone.keyboard.press('Shift+Tab')
    await phone.keyboard.press('Shift+Tab')
    expect(await phone.locator(':focus').innerText()).toBe('Approve 1')
    await phone.goto(grace.url())
    await phone.getByRole('button', { name: 'Approve changes to Transcriber' }).click()
    await phone.getByText('The changes are approved').waitFor()
    const third = await requestToken(service.authUrl, { clientId, clientSecret } as never)
    expect(third.body.api_product_list_json).toEqual(['sms', 'speech-to-text'])
    expect(await productsOf()).toEqual(['sms'])
  })
})
