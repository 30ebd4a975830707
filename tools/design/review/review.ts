// Serves the portal with data, measures its pages, or writes screenshots of them, to look at:
//   node --conditions=@tokenwell/source tools/design/review/review.ts serve [--small] [--database postgres://…]
//   node --conditions=@tokenwell/source tools/design/review/review.ts measure [--small] [--only NAME] [--database postgres://…]
//   node --conditions=@tokenwell/source tools/design/review/review.ts screenshots FOLDER [--small] [--only NAME] [--look LOOK]
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { launchBrowser } from '@tokenwell/internal-testing/browser'
import { describePageLoad, measurePageLoad } from '@tokenwell/internal-testing/page-load'
import { startTokenService } from '../../../packages/token-service/src/index.ts'
import '../generate.ts'
import { large, seed, small } from './seed.ts'

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    small: { type: 'boolean' },
    database: { type: 'string' },
    port: { type: 'string', default: '0' },
    only: { type: 'string' },
    look: { type: 'string' },
  },
})
const [command = 'serve', output = ''] = positionals

const credentials = { name: 'mia', password: 'correct horse battery staple' }

async function serve() {
  const folder = mkdtempSync(join(tmpdir(), 'tokenwell-review-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  const location = values.database ?? join(folder, 'service.db')
  const storage = values.database ?? (`sqlite:${location}` as const)
  const options = {
    storage: storage as 'memory',
    portal: true,
    port: Number(values.port),
    applications: [{ name: 'demo', clientId: 'demo-client', clientSecret: 'demo-secret-0123456789' }],
  }
  const first = await startTokenService(options)
  const link = (await first.createSetupLink()) ?? ''
  const cookie = await post(link, credentials)
  await first.close()
  await seed(location, values.small ? small : large)
  const service = await startTokenService(options)
  return { service, cookie }
}

/** Sends the page's form; returns its cookies. */
async function post(url: string, form: Readonly<Record<string, string>>): Promise<string> {
  const page = await fetch(url)
  const cookies = (response: Response) => response.headers.getSetCookie().map((each) => each.split(';')[0])
  const token = /name="csrf_token" value="([^"]+)"/.exec(await page.text())?.[1] ?? ''
  const response = await fetch(url, {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie: cookies(page).join('; ') },
    body: new URLSearchParams({ csrf_token: token, ...form }),
  })
  return [...cookies(page), ...cookies(response)].join('; ')
}

/** The path of each page below the portal's, and what is clicked there, if it can be seen. */
const pages: Readonly<Record<string, readonly [path: string, ...clicks: string[]]>> = {
  overview: [''],
  'get-started': ['get-started'],
  'expiring-secrets': ['expiring-secrets'],
  applications: ['applications'],
  'applications-nothing': ['applications?q=nothing+like+this'],
  projects: ['projects'],
  project: ['projects', 'main td a'],
  'project-settings': ['projects', 'main td a', 'main .title .outline'],
  approvals: ['approvals'],
  'approvals-selected': ['approvals', '[data-select-all]'],
  'approvals-decline': ['approvals', '[data-select-all]', '[commandfor=decline-selected]'],
  decline: ['approvals', 'main td.decision > a'],
  people: ['developers'],
  'people-invite': ['developers', '[commandfor=invite]'],
  person: ['developers', 'main td a'],
  invitations: ['invitations'],
  'new-application': ['new-application'],
  search: ['search?q=emile'],
  products: ['products'],
  'products-menu': ['products', 'main .more'],
  scopes: ['scopes'],
  'change-scope': ['scopes?change=orders:read'],
  'resource-servers': ['resource-servers'],
  'resource-server': ['resource-servers', 'main td a'],
  'trusted-issuers': ['trusted-issuers'],
  'trusted-issuer': ['trusted-issuers/github'],
  'trust-github': ['new-trusted-issuer?preset=github'],
  'trust-other': ['new-trusted-issuer'],
  audit: ['audit'],
  account: ['account'],
  reference: ['reference'],
  'new-project': ['new-project'],
  'not-found': ['nothing-like-this'],
  menu: ['applications', '.menu-button'],
}

const looks = {
  '1440': { width: 1440, height: 1000 },
  '1440-dark': { width: 1440, height: 1000, colorScheme: 'dark' },
  '1280': { width: 1280, height: 900 },
  '1024': { width: 1024, height: 800 },
  '768': { width: 768, height: 1024 },
  '390': { width: 390, height: 844, scale: 2 },
  '390-dark': { width: 390, height: 844, scale: 2, colorScheme: 'dark' },
  forced: { width: 1280, height: 900, forcedColors: 'active' },
  'forced-390': { width: 390, height: 844, scale: 2, forcedColors: 'active' },
  '200%': { width: 640, height: 450, scale: 2 },
} as const satisfies Record<
  string,
  { width: number; height: number; scale?: number; colorScheme?: 'dark'; forcedColors?: 'active' }
>

const isWanted = (title: string) => values.only === undefined || values.only.split(',').includes(title)

function jarOf(cookie: string, url: string) {
  return cookie.split('; ').map((pair) => {
    const [name = '', ...rest] = pair.split('=')
    return { name, value: rest.join('='), url }
  })
}

/** How long the service needs for each page, how large it is, and when it is interactive on a slow processor. */
async function measure() {
  const { service, cookie } = await serve()
  const browser = await launchBrowser()
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } })
  await context.addCookies(jarOf(cookie, service.authUrl))
  const page = await context.newPage()
  for (const [title, [path, ...clicks]] of Object.entries(pages)) {
    if (!isWanted(title) || clicks.length > 0) continue
    const url = `${service.authUrl}/portal/${path}`
    const times: number[] = []
    let characters = 0
    while (times.length < 15) {
      const begin = performance.now()
      const response = await fetch(url, { headers: { cookie } })
      characters = (await response.text()).length
      times.push(performance.now() - begin)
    }
    const [fastest = 0, , , , , , , median = 0] = times.toSorted((a, b) => a - b)
    const load = await measurePageLoad(page, url)
    process.stdout.write(
      `${title}: ${characters.toLocaleString('en')} characters of HTML in ${fastest.toFixed(0)} ms (median ${median.toFixed(0)} ms); ${describePageLoad(load)}\n`,
    )
  }
  await browser.close()
  await service.close()
}

async function screenshots() {
  const { service, cookie } = await serve()
  const browser = await launchBrowser()
  mkdirSync(output, { recursive: true })
  for (const [name, look] of Object.entries(looks)) {
    if (values.look !== undefined && !values.look.split(',').includes(name)) continue
    const {
      width,
      height,
      scale = 1,
      ...media
    } = { ...look } as {
      width: number
      height: number
      scale?: number
      colorScheme?: 'dark'
      forcedColors?: 'active'
    }
    const context = await browser.newContext({
      viewport: { width, height },
      deviceScaleFactor: scale,
      ...media,
    })
    await context.addCookies(jarOf(cookie, service.authUrl))
    const page = await context.newPage()
    const shoot = async (title: string) => {
      const overhang = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
      if (overhang > 0) process.stdout.write(`${title}, ${name}: ${overhang} px too wide\n`)
      await page.screenshot({ path: join(output, `${title}-${name}.png`) })
    }
    for (const [title, [path, ...clicks]] of Object.entries(pages)) {
      if (!isWanted(title)) continue
      await page.goto(`${service.authUrl}/portal/${path}`)
      for (const selector of clicks) {
        const target = page.locator(selector).first()
        if (await target.isVisible()) await target.click()
        await page.waitForLoadState()
      }
      await shoot(title)
    }
    await page.goto(`${service.authUrl}/portal/applications?q=transcriber-gateway`)
    const first = page.locator('main td a').first()
    const href = (await first.count()) > 0 ? ((await first.getAttribute('href')) ?? '') : ''
    for (const tab of href === '' ? [] : ['', '/credentials', '/requests', '/settings']) {
      const title = `application${tab.replace('/', '-')}`
      if (!isWanted(title)) continue
      await page.goto(`${service.authUrl}${href}${tab}`)
      await shoot(title)
    }
    if (isWanted('log-in')) {
      await context.clearCookies()
      await page.goto(`${service.authUrl}/portal/log-in`)
      await shoot('log-in')
    }
    await context.close()
  }
  await browser.close()
  await service.close()
}

if (command === 'screenshots' || command === 'measure') {
  await (command === 'measure' ? measure() : screenshots())
  process.exit()
}
const { service } = await serve()
process.stdout.write(
  `${service.authUrl}/portal — log in as ${credentials.name} with "${credentials.password}"\n`,
)
