import { setTimeout } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { useCheapPasswords } from '../portal-browser.ts'
import {
  hasChromium,
  inChromium,
  inspectPage,
  usePages,
  confirm,
  createProjectAndApplication,
  credentials,
  joinAsFirst,
  openTab,
  startServiceWithPortal,
  tokenStatus,
} from './chromium.ts'

useCheapPasswords()

describe.skipIf(!hasChromium)(inChromium, () => {
  const openPage = usePages()

  it('a secret is rotated without an outage, then revoked', async () => {
    const service = await startServiceWithPortal()
    const page = await openPage()
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
    await openTab(page, 'Credentials')
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
    await openTab(page, 'Credentials')
    await page.getByLabel(`More actions for the secret ${first.slice(0, 4)}…`).click()
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

    await openTab(page, 'Settings')
    await confirm(page, 'Revoke application', 'Revoke application')
    await page.getByRole('status').getByText('was revoked').waitFor()
    await inspectPage(page, 'application-revoked')
    expect(await tokenStatus(service, clientId, second)).toBe(401)
    await page.getByRole('button', { name: 'Approve Transcriber' }).click()
    await page.getByText('The application is approved').waitFor()
    expect(await tokenStatus(service, clientId, second)).toBe(200)

    await openTab(page, 'Settings')
    await confirm(page, 'Delete application', 'Delete application')
    await page.getByText('It can be restored until').waitFor()
    await inspectPage(page, 'application-deleted')
    expect(await tokenStatus(service, clientId, second)).toBe(401)
    await page.getByRole('button', { name: 'Restore application' }).click()
    await page.getByText('The application was restored').waitFor()
    expect(await tokenStatus(service, clientId, second)).toBe(200)
  })
})
