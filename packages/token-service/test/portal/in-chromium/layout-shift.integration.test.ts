import { describe, expect, it } from 'vitest'
import { layoutShift } from '@tokenwell/internal-testing/page-load'
import { hasChromium, inChromium, usePages } from './chromium.ts'
import {
  createApplication,
  createProject,
  startPortal,
  tokenFor,
  useCheapPasswords,
} from '../portal-browser.ts'

useCheapPasswords()

describe.skipIf(!hasChromium)(inChromium, () => {
  const openPage = usePages()

  it.each([1280, 390])('no page moves what it has shown, %i px wide', { timeout: 120_000 }, async (width) => {
    const { admin, service } = await startPortal()
    const application = await createApplication(admin, await createProject(admin))
    await tokenFor(service.authUrl, application)
    const page = await openPage({ viewport: { width, height: 844 } })
    const cookies = Array.from(admin.cookies, ([name, value]) => ({ name, value, url: service.authUrl }))
    await page.context().addCookies(cookies)
    const sections = [
      'get-started',
      'applications',
      'projects',
      'approvals',
      'developers',
      'products',
      'resource-servers',
    ]
    const paths = [...sections, 'audit', 'account', 'reference'].map((name) => `/portal/${name}`)
    for (const path of [...paths, application.path]) {
      await page.goto(`${service.authUrl}${path}`)
      expect(await layoutShift(page), path).toBeLessThan(0.01)
    }
  })
})
