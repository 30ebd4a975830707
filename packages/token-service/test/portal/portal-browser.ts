import { afterAll, beforeAll } from 'vitest'
import type { TokenServiceOptions } from '@tokenwell/token-service'
import { passwordCost } from '../../src/features/sessions/password.ts'
import { requestToken, resourceServer, serviceWithContext, type ServiceWithContext } from '../test-service.ts'

/** Where a page leads without a session. */
export const logInPath = '/portal/log-in?next=%2Fportal%2Fprojects'

export const password = 'correct horse battery staple'

/** Passwords cost next to nothing in the tests that call it, or the given share of what they should. */
export function useCheapPasswords(share = 2 ** -11): void {
  const { N } = passwordCost
  beforeAll(() => void (passwordCost.N = N * share))
  afterAll(() => void (passwordCost.N = N))
}

export interface PageResponse {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly location: string | null
}

/** Keeps cookies, and sends the CSRF token of the last page. */
export interface PortalBrowser {
  readonly cookies: Map<string, string>
  csrfToken: string
  get(path: string): Promise<PageResponse>
  /** Sends a form with the token of the last page, unless the form says otherwise. */
  post(path: string, form?: Readonly<Record<string, string>>): Promise<PageResponse>
  send(path: string, init: RequestInit): Promise<PageResponse>
}

export function createPortalBrowser(authUrl: string): PortalBrowser {
  const browser: PortalBrowser = {
    cookies: new Map(),
    csrfToken: '',
    get: (path) => browser.send(path, {}),
    post: (path, form = {}) =>
      browser.send(path, {
        method: 'POST',
        body: new URLSearchParams({ csrf_token: browser.csrfToken, ...form }),
      }),
    async send(path, init) {
      const cookie = Array.from(browser.cookies, (pair) => pair.join('=')).join('; ')
      const headers = { cookie, ...(init.headers as Record<string, string> | undefined) }
      const url = new URL(path, authUrl)
      const response = await fetch(url, { ...init, headers, redirect: 'manual' })
      const text = await response.text()
      for (const header of response.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(header) ?? []
        browser.cookies.set(name, value)
      }
      browser.csrfToken = /name="csrf_token" value="([^"]+)"/.exec(text)?.[1] ?? browser.csrfToken
      const location = response.headers.get('location')
      return { status: response.status, headers: response.headers, text, location }
    },
  }
  return browser
}

export interface PortalUnderTest {
  readonly service: ServiceWithContext
  /** The first developer, logged in. */
  readonly admin: PortalBrowser
  /** A browser without cookies. */
  readonly newBrowser: () => PortalBrowser
  /** Invites another developer, who joins and logs in. */
  readonly developer: (name: string) => Promise<PortalBrowser>
}

export async function startPortal(options: TokenServiceOptions = {}): Promise<PortalUnderTest> {
  const service = await serviceWithContext({
    portal: true,
    products: ['speech-to-text'],
    applications: [],
    resourceServers: [],
    ...options,
  })
  const admin = createPortalBrowser(service.authUrl)
  await join(admin, (await service.createSetupLink()) ?? '', 'ada')
  return {
    service,
    admin,
    newBrowser: () => createPortalBrowser(service.authUrl),
    async developer(name) {
      const browser = createPortalBrowser(service.authUrl)
      await join(browser, await invite(admin, name), name)
      return browser
    },
  }
}

/** Invites somebody; returns the link. */
export async function invite(administrator: PortalBrowser, name = 'somebody'): Promise<string> {
  await administrator.get('/portal/invitations')
  return shown((await administrator.post('/portal/invitations', { name })).text, 'link')
}

async function join(browser: PortalBrowser, link: string, name: string): Promise<void> {
  const { pathname } = new URL(link)
  await browser.get(pathname)
  const { location } = await browser.post(pathname, { name, password })
  if (location !== '/portal') throw new Error(`${name} could not join.`)
  await browser.get('/portal/projects')
}

/** Creates a project; returns its path. */
export async function createProject(browser: PortalBrowser, name = 'Speech'): Promise<string> {
  const form = { name, organization_name: 'Example', developer_email: 'ada@example.com' }
  const { location } = await browser.post('/portal/new-project', form)
  return location ?? ''
}

export interface CreatedApplication {
  readonly path: string
  readonly clientId: string
  readonly clientSecret: string
}

export const applicationForm = {
  name: 'Transcriber',
  product: 'speech-to-text',
  level: 'gold',
  response_form: 'products',
  lifetime: '3600',
  lifetime_unit: 'seconds',
  token_format: 'opaque',
  dpop: 'allowed',
  audiences: '',
}

export async function createApplication(
  browser: PortalBrowser,
  project: string,
  form: Readonly<Record<string, string>> = {},
): Promise<CreatedApplication> {
  const { text } = await browser.post('/portal/new-application', {
    ...applicationForm,
    project: idIn(project),
    submission_id: crypto.randomUUID(),
    ...form,
  })
  return {
    path: /href="([^"]+\/applications\/[\w-]+)"/.exec(text)?.[1] ?? '',
    clientId: shown(text, 'client-id'),
    clientSecret: shown(text, 'client-secret'),
  }
}

/** Sends an administrator's decision as the page of the application offers it. */
export async function decide(
  browser: PortalBrowser,
  path: string,
  decision: string,
  more: Readonly<Record<string, string>> = {},
): Promise<PageResponse> {
  const page = decision === 'decline' ? `${path}/decline` : path
  const revision = /name="revision" value="(\d+)"/.exec((await browser.get(page)).text)?.[1] ?? ''
  return browser.post(`${path}/approval`, { decision, revision, ...more })
}

/** The last part of a path. */
export function idIn(path: string): string {
  return path.split('/').at(-1) ?? ''
}

/** What the reader sees in each row of a list, in its columns of that kind. */
export function cells(text: string, kind: string): string[] {
  const found = text.matchAll(new RegExp(`<td class="${kind}(?: [^"]*)?">(.*?)</td>`, 'gs'))
  return [...found].map(([, cell]) =>
    plainText(cell ?? '')
      .replaceAll(/\s+/g, ' ')
      .trim(),
  )
}

/** The text of the element with that ID. */
export function shown(text: string, id: string): string {
  return plainText(new RegExp(`<code id="${id}">(.*?)</code>`, 's').exec(text)?.[1] ?? '')
}

/** What the reader of this markup sees. */
export function plainText(markup: string): string {
  return markup
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('&quot;', '"')
    .replaceAll(/&#(?:39|x27);/g, "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
}

/** Requests a token as the application. */
export function tokenFor(authUrl: string, { clientId, clientSecret }: CreatedApplication) {
  return requestToken(authUrl, { clientId, clientSecret } as never)
}

/** The portal with an application, and a stopped clock. */
export async function withApplication(form: Readonly<Record<string, string>> = {}) {
  const time = { now: Date.UTC(2026, 0, 31, 12) }
  const portal = await startPortal({ clock: { now: () => time.now }, resourceServers: [resourceServer] })
  const project = await createProject(portal.admin)
  const application = await createApplication(portal.admin, project, form)
  return { ...portal, authUrl: portal.service.authUrl, time, project, application }
}
