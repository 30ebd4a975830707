import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { SignJWT, type JWTHeaderParameters } from 'jose'
import { Provider } from 'oidc-provider'
import { onTestFinished, vi } from 'vitest'
import type { OpenidProviderOptions, TokenServiceOptions } from '@tokenwell/token-service'
import {
  createPortalBrowser,
  plainText,
  startPortal,
  type PageResponse,
  type PortalBrowser,
  type PortalUnderTest,
} from './portal-browser.ts'

export const clientSecret = 'canary-secret-of-the-portal'

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })

export interface Account {
  readonly preferred_username?: string
  readonly email?: string
  readonly groups?: unknown
}

/** A company's OpenID provider (oidc-provider), whose log-in page asks nothing. */
export interface OpenidProviderUnderTest {
  readonly issuer: string
  /** What it knows about people, by subject. */
  readonly accounts: Map<string, Account>
  /** Whom it logs in; undefined: it denies access. */
  subject: string | undefined
  /** Refuses every connection. */
  isDown: boolean
  /** Accepts connections, and never responds. */
  hangs: boolean
  /** Changes the token response. */
  alterTokens: (body: Record<string, unknown>) => Promise<void> | void
  /** Changes the response of the userinfo endpoint. */
  alterUserInfo: (body: Record<string, unknown>) => void
  /** The paths of the requests so far. */
  readonly requests: string[]
  /** Signs anything with its key. */
  sign(claims: Readonly<Record<string, unknown>>, header?: Partial<JWTHeaderParameters>): Promise<string>
  /** Ends the session of a browser that is logged in there. */
  logOut(atProvider: PortalBrowser): Promise<void>
  /** Allows log-ins to the service at this URL. */
  register(authUrl: string): void
}

export async function startOpenidProvider({ inIdToken = false } = {}): Promise<OpenidProviderUnderTest> {
  // It writes about its own development defaults.
  for (const method of ['info', 'warn'] as const) {
    const spy = vi.spyOn(console, method).mockImplementation(() => {})
    onTestFinished(() => spy.mockRestore())
  }
  let provider: Provider | undefined
  const server = createServer((request, response) => {
    if (under.isDown) return void request.socket.destroy()
    const path = request.url ?? ''
    under.requests.push(path.split('?')[0]!)
    if (under.hangs) return
    if (!path.startsWith('/interaction/')) return void provider?.callback()(request, response)
    const { subject } = under
    const result = subject === undefined ? { error: 'access_denied' } : { login: { accountId: subject } }
    void provider?.interactionFinished(request, response, result, { mergeWithLastSubmission: false })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const under: OpenidProviderUnderTest = {
    issuer: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    accounts: new Map(),
    subject: 'subject-1',
    isDown: false,
    hangs: false,
    alterTokens: () => {},
    alterUserInfo: () => {},
    requests: [],
    sign: (claims, header) =>
      new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'key-1', ...header }).sign(privateKey),
    async logOut(atProvider) {
      const { text } = await atProvider.get('/session/end')
      const xsrf = /name="xsrf" value="(\w+)"/.exec(text)?.[1] ?? ''
      const { status } = await atProvider.post('/session/end/confirm', { xsrf, logout: 'yes' })
      if (status !== 303) throw new Error(`The provider responded with ${status}.`)
    },
    register(authUrl) {
      provider = new Provider(under.issuer, {
        clients: [
          {
            client_id: 'portal',
            client_secret: clientSecret,
            redirect_uris: [`${authUrl}/portal/log-in/callback`],
            post_logout_redirect_uris: [`${authUrl}/portal/log-in`],
            backchannel_logout_uri: `${authUrl}/portal/log-out/back-channel`,
            backchannel_logout_session_required: true,
          },
        ],
        jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), kid: 'key-1', use: 'sig' }] },
        // To loopback, too.
        fetch: (url, options) => fetch(url, { ...options, dispatcher: undefined } as RequestInit),
        cookies: { keys: [randomBytes(16).toString('hex')] },
        claims: { openid: ['sub'], profile: ['preferred_username', 'groups', 'email'] },
        conformIdTokenClaims: !inIdToken,
        features: {
          devInteractions: { enabled: false },
          backchannelLogout: { enabled: true },
          // Without the fonts of another site.
          rpInitiatedLogout: {
            logoutSource: (context, form) => {
              context.body = `<!doctype html><title>Log out</title>${form}<button form="op.logoutForm" name="logout" value="yes">Yes</button>`
            },
          },
        },
        pkce: { required: () => true },
        interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
        findAccount: (_context, sub) => ({
          accountId: sub,
          claims: async () => ({ sub, ...(under.accounts.get(sub) as Record<string, never>) }),
        }),
        async loadExistingGrant({ oidc }) {
          const grant = new oidc.provider.Grant({
            accountId: oidc.session!.accountId!,
            clientId: oidc.client!.clientId,
          })
          grant.addOIDCScope('openid profile')
          await grant.save()
          return grant
        },
      })
      provider.use(async (context, next) => {
        await next()
        const body = context.body as Record<string, unknown>
        if (context.path === '/token') await under.alterTokens(body)
        if (context.path === '/me') under.alterUserInfo(body)
      })
    },
  }
  return under
}

export interface OpenidPortal extends PortalUnderTest {
  readonly provider: OpenidProviderUnderTest
  /** Logs in through the provider, in that browser of the portal, as the person with that subject. */
  readonly logInAs: (subject: string | undefined, browser?: PortalBrowser) => Promise<LoggedIn>
}

export interface LoggedIn {
  readonly browser: PortalBrowser
  readonly atProvider: PortalBrowser
  readonly response: PageResponse
}

export const openidProvider = (issuer: string, more: Partial<OpenidProviderOptions> = {}) => ({
  name: 'Example ID',
  issuer,
  clientId: 'portal',
  clientSecret,
  administratorGroups: ['portal-admins'],
  developerGroups: ['portal-developers'],
  ...more,
})

/** The portal with an OpenID provider. */
export async function startOpenidPortal(
  settings: Partial<OpenidProviderOptions> = {},
  options: TokenServiceOptions = {},
  providerOptions: { readonly inIdToken?: boolean } = {},
): Promise<OpenidPortal> {
  const provider = await startOpenidProvider(providerOptions)
  const portal = await startPortal({ openidProvider: openidProvider(provider.issuer, settings), ...options })
  provider.register(portal.service.authUrl)
  provider.accounts.set('subject-1', { preferred_username: 'Grace', groups: ['portal-developers'] })
  return {
    ...portal,
    provider,
    async logInAs(subject, browser = portal.newBrowser()) {
      provider.subject = subject
      const atProvider = createPortalBrowser(provider.issuer)
      const callback = await callbackOf(browser, { atProvider })
      return { browser, atProvider, response: await browser.get(callback) }
    },
  }
}

interface CallbackOptions {
  readonly next?: string
  readonly alter?: (url: URL) => void
  readonly atProvider?: PortalBrowser
}

/** Goes to the provider and back: the URL with its response. `alter` changes the authorization request. */
export async function callbackOf(
  browser: PortalBrowser,
  { next = '', alter = () => {}, atProvider: browserThere }: CallbackOptions = {},
): Promise<string> {
  const { location } = await browser.get(`/portal/log-in/openid${next}`)
  const start = new URL(location ?? '')
  alter(start)
  return responseOf(start, browserThere)
}

/** What the provider responds to an authorization request: a URL of the portal. */
export async function responseOf(
  start: URL,
  atProvider: PortalBrowser = createPortalBrowser(start.origin),
): Promise<string> {
  let response = await atProvider.get(start.href)
  while (response.location?.includes(start.host) || response.location?.startsWith('/')) {
    response = await atProvider.get(response.location)
  }
  if (response.location === null)
    throw new Error(`The provider responded with ${response.status}: ${response.text}`)
  return response.location
}

/** Name and role of whom the browser is logged in as. */
export async function roleOf(browser: PortalBrowser): Promise<string | undefined> {
  const { text } = await browser.get('/portal/account')
  return /<strong>([^<]+)<\/strong><br \/>(\w+)/.exec(text)?.slice(1).join(', ')
}

export async function auditOf(admin: PortalBrowser): Promise<string> {
  return plainText((await admin.get('/portal/audit')).text).replaceAll(/\s+/g, ' ')
}

/** The sentence of a rejection. */
export const problem = (text: string) =>
  plainText(/<div role="alert"[^>]*>(.*?)<\/div>/s.exec(text)?.[1] ?? '')
