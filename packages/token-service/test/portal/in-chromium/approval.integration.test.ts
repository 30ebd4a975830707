import { startTokenService } from '@tokenwell/token-service'
import { describe, expect, it, onTestFinished } from 'vitest'
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
    await phone.getByText('1 declined: Transcriber').waitFor()
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

  it.each([
    [390, 700],
    [1280, 620],
  ])('selects a range with Shift, and covers nothing with the bar, %i px wide', async (width, height) => {
    const applications = Array.from({ length: 24 }, (_, index) => ({
      name: `Reader ${String(index).padStart(2, '0')}`,
      clientId: `reader-${index}`,
      clientSecret: `secret-of-the-reader-${index}`,
      status: 'pending' as const,
    }))
    const service = await startTokenService({ portal: true, applications })
    onTestFinished(() => service.close())
    const page = await openPage({ viewport: { width, height } })
    await joinAsFirst(page, service)
    await page.goto(`${service.authUrl}/portal/approvals`)
    const boxes = page.locator('[name=selected]')
    await boxes.nth(2).click()
    await boxes.nth(15).click({ modifiers: ['Shift'] })
    await boxes.nth(9).click()
    const button = page.getByRole('button', { name: 'Approve 13' })
    await button.waitFor()

    // Wherever the page is scrolled to, a click on the button is one on the button.
    const hits = await page.evaluate(`(() => {
      const button = [...document.querySelectorAll('.selection button')].find((each) => each.checkVisibility())
      let others = 0
      for (let top = 0; top < 300; top += 5) {
        scrollTo(0, top)
        const { left, right, y, bottom } = button.getBoundingClientRect()
        for (let x = left + 3; x < right - 3; x += 5)
          for (let at = y + 3; at < bottom - 3; at += 5)
            if (document.elementFromPoint(x, at) !== button) others += 1
      }
      scrollTo(0, 0)
      return others
    })()`)
    expect(hits).toBe(0)
    await boxes.first().focus()
    for (let step = 0; step < 40; step += 1) {
      await page.keyboard.press('Tab')
      const isHidden = await page.evaluate(`(() => {
        const bar = document.querySelector('.selection').getBoundingClientRect()
        const focused = document.activeElement.getBoundingClientRect()
        return !document.activeElement.closest('.selection') && focused.top >= bar.top && focused.bottom <= bar.bottom
      })()`)
      expect(isHidden, `step ${step}`).toBe(false)
    }

    await button.click()
    await page.getByText('13 approved').waitFor()
    expect(await page.title()).toBe('13 approved · Approvals · Tokenwell')
    expect(await page.locator(':focus').innerText()).toContain('13 approved: Reader')
    await inspectPage(page, 'approvals-approved')
    await page.getByText('Revoke some of them').click()
    await page.getByRole('link', { name: 'Revoke Reader 05' }).click()
    await page.getByRole('heading', { name: 'Reader 05' }).waitFor()
    expect(await page.getByRole('button', { name: 'Revoke application' }).isVisible()).toBe(true)
  })
})
