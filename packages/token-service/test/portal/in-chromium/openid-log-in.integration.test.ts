import { describe, expect, it } from 'vitest'
import { startOpenidPortal } from '../openid-provider.ts'
import { password, useCheapPasswords } from '../portal-browser.ts'
import { hasChromium, inChromium, inspectPage, usePages } from './chromium.ts'

useCheapPasswords()

describe.skipIf(!hasChromium)(inChromium, () => {
  const openPage = usePages()

  it.each([true, false])(
    'somebody logs in through an OpenID provider and out again, with scripts: %s',
    async (javaScriptEnabled) => {
      const { service, provider } = await startOpenidPortal()
      const page = await openPage({ javaScriptEnabled })
      const portal = `${service.authUrl}/portal`
      await page.goto(`${portal}/projects`)
      if (javaScriptEnabled) await inspectPage(page, 'log-in-openid')
      await page.getByRole('link', { name: 'Log in with Example ID' }).click()
      await page.waitForURL(`${portal}/projects`)
      expect(await page.locator('.account strong').innerText()).toBe('grace')
      await page.getByRole('button', { name: 'Log out' }).click()
      await page.waitForURL(`${provider.issuer}/session/end?*`)
      await page.getByRole('button', { name: /yes/i }).click()
      await page.waitForURL(`${portal}/log-in*`)
      await page.getByText('You are logged out.').waitFor()
      provider.isDown = true
      await page.goto(`${portal}/account`)
      await page.waitForURL(`${portal}/log-in?*`)
      provider.isDown = false
      provider.subject = undefined
      await page.getByRole('link', { name: 'Log in with Example ID' }).click()
      await page.getByRole('alert').getByText('Example ID did not log you in.').waitFor()
      if (javaScriptEnabled) await inspectPage(page, 'log-in-openid-rejected')
      // Somebody with a password links the account of another person there.
      provider.accounts.set('subject-2', { groups: ['portal-admins'] })
      provider.subject = 'subject-2'
      await page.context().clearCookies()
      await page.goto(`${portal}/account`)
      await page.getByLabel('Name').fill('ada')
      await page.getByLabel('Password').fill(password)
      await page.getByRole('button', { name: 'Log in', exact: true }).click()
      await page.waitForURL(`${portal}/account`)
      if (javaScriptEnabled) await inspectPage(page, 'account-openid')
      await page.getByRole('button', { name: 'Link your account at Example ID' }).click()
      await page.getByText('The accounts are linked.').waitFor()
      expect(page.url()).toBe(`${portal}/account`)
      await page.getByRole('button', { name: 'Unlink your account at Example ID' }).waitFor()
    },
  )
})
