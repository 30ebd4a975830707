import { describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import type { TokenServiceOptions } from '@tokenwell/token-service'
import { password, startPortal, useCheapPasswords } from '../portal-browser.ts'
import { hasChromium, inChromium, inspectPage, tabTo, usePages } from './chromium.ts'

useCheapPasswords()

/** Chromium's virtual authenticator: a device with a fingerprint that always matches. */
async function addAuthenticator(page: Page) {
  const session = await page.context().newCDPSession(page)
  await session.send('WebAuthn.enable')
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      ctap2Version: 'ctap2_1',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  const credentials = async () =>
    (await session.send('WebAuthn.getCredentials', { authenticatorId })).credentials
  type Credential = Awaited<ReturnType<typeof credentials>>[number]
  return {
    credentials,
    setVerified: (isUserVerified: boolean) =>
      session.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified }),
    add: (credential: Credential) => session.send('WebAuthn.addCredential', { authenticatorId, credential }),
    remove: ({ credentialId }: Credential) =>
      session.send('WebAuthn.removeCredential', { authenticatorId, credentialId }),
  }
}

describe.skipIf(!hasChromium)(inChromium, () => {
  const openPage = usePages()

  async function opened(options: TokenServiceOptions = {}) {
    const portal = await startPortal(options)
    const url = `${portal.service.authUrl.replace('127.0.0.1', 'localhost')}/portal`
    const page = await openPage()
    const authenticator = await addAuthenticator(page)
    const button = (name: string) => page.getByRole('button', { name, exact: true })
    const press = async (name: string) => {
      await tabTo(button(name))
      await page.keyboard.press('Enter')
    }
    const cookies = Array.from(portal.admin.cookies, ([name, value]) => ({ name, value, url }))
    await page.context().addCookies(cookies)
    return { ...portal, url, page, authenticator, button, press }
  }

  it(
    'a passkey is added, logs in, and replaces the password, by keyboard alone',
    { timeout: 120_000 },
    async () => {
      const { page, url, authenticator, press, button } = await opened()
      await page.goto(`${url}/account`)
      const name = page.getByLabel('Name of the passkey')
      await tabTo(name)
      await name.press('ControlOrMeta+a')
      await page.keyboard.type('Laptop')
      await press('Add a passkey')
      await page.getByRole('heading', { name: 'Copy the recovery codes now' }).waitFor()
      await inspectPage(page, 'recovery-codes')
      const [code = ''] = (await page.locator('#codes').innerText()).split('\n')
      await page.getByRole('link', { name: 'Continue to your account' }).press('Enter')
      await page.getByRole('cell', { name: 'Laptop', exact: true }).waitFor()
      await inspectPage(page, 'account-with-passkey')
      // The same device has one already.
      await press('Add a passkey')
      await page.getByRole('alert').getByText('This device already has a passkey for your account.').waitFor()
      await press('Switch off the password')
      await page.getByText('You now log in with a passkey only.').waitFor()
      await press('Log out')
      await page.getByText('You are logged out.').waitFor()

      await press('Log in with a passkey')
      await page.waitForURL(`${url}/get-started`)
      expect(await page.locator('.account strong').innerText()).toBe('ada')
      const [credential] = await authenticator.credentials()
      expect(credential?.signCount).toBeGreaterThan(1)

      await press('Log out')
      await page.getByRole('link', { name: 'Use a recovery code' }).press('Enter')
      await inspectPage(page, 'log-in-recovery')
      await tabTo(page.getByLabel('Name'))
      await page.keyboard.type('Ada')
      await tabTo(page.getByLabel('Recovery code'))
      await page.keyboard.type(code)
      await page.keyboard.press('Enter')
      await page.getByText('You logged in with a recovery code').waitFor()
      await page.getByText('9 of 10 recovery codes left').waitFor()
      await press('Switch on the password')
      await button('Change password').waitFor()
    },
  )

  it(
    'a passkey that was copied, or whose user is not verified, is rejected',
    { timeout: 60_000 },
    async () => {
      const { page, url, authenticator, press } = await opened()
      await page.goto(`${url}/account`)
      await press('Add a passkey')
      await page.getByRole('heading', { name: 'Copy the recovery codes now' }).waitFor()
      const [copy] = await authenticator.credentials()
      const logIn = async () => {
        await page.context().clearCookies()
        await page.goto(`${url}/log-in`)
        await press('Log in with a passkey')
      }
      await logIn()
      await page.waitForURL(`${url}/get-started`)
      // The copy was made before the last log-in: its counter stays behind.
      await authenticator.remove(copy!)
      await authenticator.add(copy!)
      await logIn()
      await page.getByRole('alert').getByText('The passkey was not accepted.').waitFor()
      await inspectPage(page, 'log-in-passkey-rejected')
      await authenticator.setVerified(false)
      await logIn()
      await page.getByRole('alert').getByText('No passkey was used. Try again.').waitFor()
    },
  )

  it('a passkey is added only after a log-in in the last 15 minutes', { timeout: 60_000 }, async () => {
    const time = { now: Date.now() }
    const { page, url, press } = await opened({ clock: { now: () => time.now } })
    await page.goto(`${url}/account`)
    time.now += 15 * 60_000
    await press('Add a passkey')
    await page.waitForURL(`${url}/log-in?next=%2Fportal%2Faccount`)
    await page.getByText('Log in again, then change how you log in.').waitFor()
    await page.getByLabel('Name').fill('ada')
    await page.getByLabel('Password').fill(password)
    await press('Log in')
    await page.waitForURL(`${url}/account`)
    await press('Add a passkey')
    await page.getByRole('heading', { name: 'Copy the recovery codes now' }).waitFor()
  })

  it('without scripts, or at an IP address, the password is the only way', { timeout: 60_000 }, async () => {
    const { service } = await startPortal()
    const page = await openPage({ javaScriptEnabled: false })
    const button = page.getByRole('button', { name: 'Log in with a passkey' })
    await page.goto(`${service.authUrl.replace('127.0.0.1', 'localhost')}/portal/log-in`)
    await page.getByRole('button', { name: 'Log in', exact: true }).waitFor()
    expect(await button.isVisible()).toBe(false)
    const other = await openPage()
    await other.goto(`${service.authUrl}/portal/log-in`)
    expect(await other.locator('[data-passkey]').count()).toBe(0)
  })
})
