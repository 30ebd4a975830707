import {
  startTokenService,
  type RunningTokenService,
  type TokenServiceOptions,
} from '@tokenwell/token-service'
import { onTestFinished } from 'vitest'
import { requestToken, resourceServer } from '../test-service.ts'

export const password = 'correct horse battery staple'

export interface PageAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly location: string | null
}

/** Somebody with a browser of a kind: keeps cookies, and sends the token of the form last seen. */
export interface Visitor {
  cookie: string
  formToken: string
  get(path: string): Promise<PageAnswer>
  /** Sends a form with the token of the last page, unless the form says otherwise. */
  post(path: string, form?: Readonly<Record<string, string>>): Promise<PageAnswer>
  send(path: string, init: RequestInit): Promise<PageAnswer>
}

export function createVisitor(authUrl: string): Visitor {
  const visitor: Visitor = {
    cookie: '',
    formToken: '',
    get: (path) => visitor.send(path, {}),
    post: (path, form = {}) =>
      visitor.send(path, {
        method: 'POST',
        body: new URLSearchParams({ form_token: visitor.formToken, ...form }),
      }),
    async send(path, init) {
      const headers = { cookie: visitor.cookie, ...(init.headers as Record<string, string> | undefined) }
      const url = new URL(path, authUrl)
      const response = await fetch(url, { ...init, headers, redirect: 'manual' })
      const text = await response.text()
      const set = response.headers.get('set-cookie')
      if (set !== null) visitor.cookie = set.split(';')[0] ?? ''
      visitor.formToken = /name="form_token" value="([^"]+)"/.exec(text)?.[1] ?? visitor.formToken
      const location = response.headers.get('location')
      return { status: response.status, headers: response.headers, text, location }
    },
  }
  return visitor
}

export interface PortalUnderTest {
  readonly service: RunningTokenService
  /** The first developer, logged in. */
  readonly admin: Visitor
  /** Somebody else with a browser. */
  readonly stranger: () => Visitor
  /** Another developer, invited and logged in. */
  readonly developer: (name: string) => Promise<Visitor>
}

export async function startPortal(options: TokenServiceOptions = {}): Promise<PortalUnderTest> {
  const service = await startTokenService(options)
  onTestFinished(() => service.close())
  const admin = createVisitor(service.authUrl)
  await join(admin, (await service.createSetupLink()) ?? '', 'ada')
  return {
    service,
    admin,
    stranger: () => createVisitor(service.authUrl),
    async developer(name) {
      await admin.get('/portal/developers')
      const { text } = await admin.post('/portal/developers')
      const visitor = createVisitor(service.authUrl)
      await join(visitor, /<code id="link">([^<]+)</.exec(text)?.[1] ?? '', name)
      return visitor
    },
  }
}

async function join(visitor: Visitor, link: string, name: string): Promise<void> {
  const { pathname } = new URL(link)
  await visitor.get(pathname)
  const { location } = await visitor.post(pathname, { name, password })
  if (location !== '/portal/projects') throw new Error(`${name} could not join.`)
  await visitor.get(location)
}

/** Makes a project; answers its path. */
export async function createProject(visitor: Visitor, name = 'Speech'): Promise<string> {
  const form = { name, organization_name: 'Example', developer_email: 'ada@example.com' }
  const { location } = await visitor.post('/portal/new-project', form)
  return location ?? ''
}

export interface CreatedApplication {
  readonly path: string
  readonly clientId: string
  readonly clientSecret: string
}

export const applicationForm = {
  name: 'Transcriber',
  products: 'speech-to-text',
  level: 'gold',
  response_form: 'products',
  lifetime_seconds: '3600',
}

export async function createApplication(
  visitor: Visitor,
  project: string,
  form: Readonly<Record<string, string>> = {},
): Promise<CreatedApplication> {
  const once = crypto.randomUUID()
  const { text } = await visitor.post(`${project}/new-application`, { ...applicationForm, once, ...form })
  return {
    path: `${project}/applications/${form['once'] ?? once}`,
    clientId: shown(text, 'client-id'),
    clientSecret: shown(text, 'client-secret'),
  }
}

/** What the page shows in the element of that id. */
export function shown(text: string, id: string): string {
  return new RegExp(`<code id="${id}">([^<]*)<`).exec(text)?.[1] ?? ''
}

/** Asks for a token as the application. */
export function ask(authUrl: string, { clientId, clientSecret }: CreatedApplication) {
  return requestToken(authUrl, { clientId, clientSecret } as never)
}

/** The portal with an application in it, and a clock that stands still. */
export async function withApplication(form: Readonly<Record<string, string>> = {}) {
  const time = { now: Date.UTC(2026, 0, 31, 12) }
  const portal = await startPortal({ clock: { now: () => time.now }, resourceServers: [resourceServer] })
  const project = await createProject(portal.admin)
  const application = await createApplication(portal.admin, project, form)
  return { ...portal, authUrl: portal.service.authUrl, time, project, application }
}
