// Makes the pictures of the home page: `pnpm --dir docs pictures` after a build. They show the portal with invented data,
// and what `tokenwell doctor` prints.
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { chromium } from 'playwright-core'
import { startTokenService } from '../packages/token-service/dist/index.js'
import { root } from './checks/read-site.ts'

const dayMs = 86_400_000
const startMs = Date.UTC(2026, 10, 2, 9)
const time = { nowMs: startMs }
const names = ['Call centre', 'Mobile app', 'Nightly export', 'Order desk', 'Subtitles']
const applications = names.map((name, index) => ({
  name,
  clientId: name.toLowerCase().replaceAll(' ', '-'),
  clientSecret: `invented-secret-${index}-0123456789`,
  project: index < 3 ? 'Speech' : 'Sales',
  products: ['speech-to-text'],
  ...(index === 2 && { clientSecretExpiresAt: new Date(startMs + 33 * dayMs).toISOString() }),
  ...(index === 4 && { status: 'pending' as const }),
}))
const service = await startTokenService({
  applications,
  portal: true,
  clock: { now: () => time.nowMs },
  failureAttempts: 1_000,
})

async function requestToken(clientId: string, clientSecret: string): Promise<void> {
  await fetch(`${service.authUrl}/oauth/client_credential/accesstoken?grant_type=client_credentials`, {
    method: 'POST',
    body: new URLSearchParams({ client_id: clientId, client_secret: clientSecret }),
  })
}

// A month of use, more of it on working days.
for (let day = 0; day < 29; day += 1) {
  time.nowMs = startMs + day * dayMs
  const isWeekend = [0, 6].includes(new Date(time.nowMs).getUTCDay())
  for (const [index, { clientId, clientSecret, status }] of applications.entries()) {
    if (status === 'pending') continue
    const requests = (isWeekend ? 6 : 14) + ((day * (index + 3)) % 7)
    for (let sent = 0; sent < requests; sent += 1) await requestToken(clientId, clientSecret)
  }
  if (day > 26) await requestToken('mobile-app', 'a former secret')
}

const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
await page.goto((await service.createSetupLink())!)
await page.getByLabel('Name').fill('ada')
await page.getByLabel('Password').fill('correct horse battery staple')
await page.locator('main button').click()

for (const colorScheme of ['light', 'dark'] as const) {
  await page.emulateMedia({ colorScheme })
  await page.goto(`${service.authUrl}/portal`, { waitUntil: 'networkidle' })
  const session = await page.context().newCDPSession(page)
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 80 })
  writeFileSync(join(root, `docs/public/pictures/portal-${colorScheme}.webp`), Buffer.from(data, 'base64'))
}
await browser.close()

const doctor = promisify(execFile)(
  process.execPath,
  [join(root, 'packages/cli/dist/tokenwell.js'), 'doctor'],
  { env: { AUTH_URL: service.authUrl, CLIENT_ID: 'mobile-app', CLIENT_SECRET: 'a former secret' } },
)
const { stdout } = await doctor.catch((failure: { stdout: string }) => failure)
await service.close()
const lines = stdout.trim().replaceAll(new URL(service.authUrl).host, '127.0.0.1:8080').split('\n')
writeFileSync(join(root, 'docs/.vitepress/theme/doctor.json'), `${JSON.stringify(lines, undefined, 2)}\n`)
