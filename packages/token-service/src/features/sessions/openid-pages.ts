import { type SafeHtml, html } from '@remix-run/html-template'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { OpenidProviderSettings } from '../people/openid-provider-settings.ts'
import { logInPage, nextPath } from './log-in-pages.ts'
import { portalRoot } from '../../oauth/base-url.ts'
import { csrfInput, emptyForm } from '../../portal/layout/form.ts'
import type { PageContent } from '../../portal/layout/page.ts'
import {
  developerPages,
  type DeveloperRequest,
  isLoggedIn,
  openPages,
  type PortalRequest,
  type PortalResponse,
} from '../../portal/page-routes.ts'
import { patterns } from '../../portal/paths.ts'
import { PortalError } from '../../portal/portal-error.ts'
import { createOpenidAccounts } from './openid-accounts.ts'
import { OpenidFailure, type Person, type PortalService } from './openid-provider.ts'
import { hasPassword } from './password.ts'
import { createLogInAgain, createSessionStarter, pendingLogInSeconds } from './session.ts'
import { digest } from '../../runtime/digest.ts'

const pendingLogIn = z.object({
  use: z.literal('portal log-in'),
  state: z.string(),
  nonce: z.string(),
  codeVerifier: z.string(),
  next: z.string(),
  /** The hash of the session in which the account is linked, instead of a new one. */
  linkIn: z.string().optional(),
  expiresAtMs: z.number(),
})

type PendingLogIn = z.output<typeof pendingLogIn>
type Purpose = Pick<PendingLogIn, 'next' | 'linkIn'>

/** Logging in through the OpenID provider, and linking an account there. */
export async function openidPages(portal: FastifyInstance, service: PortalService): Promise<void> {
  const { get } = openPages(portal)
  const { post } = developerPages(portal)
  const { openid: provider } = service
  if (!provider) return
  const { keyring, clock, storage, activity } = service
  const { settings } = provider
  const { name } = settings
  const startSession = createSessionStarter(service)
  const logInAgain = createLogInAgain(service)
  const { admit, link, unlink } = createOpenidAccounts(service, settings)
  const redirectUri = ({ baseUrl }: PortalRequest) => `${baseUrl}${portalRoot}${patterns.openidCallback}`

  const texts: Readonly<
    Record<OpenidFailure['reason'] | 'expired', readonly [status: number, text: string]>
  > = {
    unavailable: [503, `${name} cannot be reached. Try again in a minute.`],
    rejected: [403, `${name} did not log you in.`],
    invalid: [400, `The response of ${name} is not valid. Log in again.`],
    expired: [
      400,
      'This log-in was used already, has expired, or was begun in another browser. Log in again; cookies must be enabled for this site.',
    ],
  }

  function fail(
    request: PortalRequest,
    status: number,
    problem: string,
    { next, linkIn }: Purpose,
  ): PortalResponse {
    const content = { state: emptyForm, hasDevelopers: true, next, provider: settings, problem }
    return {
      page: linkIn === undefined ? logInPage(request, content) : notLinkedPage(request, problem),
      status,
      ...(status === 503 && { retryAfterSeconds: 60 }),
    }
  }

  function failed(
    request: PortalRequest,
    reason: keyof typeof texts,
    purpose: Purpose = { next: request.paths.root },
  ) {
    activity.count({ event: 'log_in_failed', address: request.address, detail: `openid ${reason}` })
    return fail(request, ...texts[reason], purpose)
  }

  /** Of this browser: another one has no such cookie. */
  async function read({ pendingLogIn: cookie }: PortalRequest): Promise<PendingLogIn | undefined> {
    const text = cookie === undefined ? undefined : await keyring.decrypt(cookie)
    if (text === undefined) return undefined
    const { data } = pendingLogIn.safeParse(JSON.parse(text))
    return data && data.expiresAtMs > clock.now() ? data : undefined
  }

  async function begin(
    request: PortalRequest,
    purpose: Purpose,
    respond: (url: string) => PortalResponse,
  ): Promise<PortalResponse> {
    try {
      const { url, ...secrets } = await provider!.begin(redirectUri(request))
      const expiresAtMs = clock.now() + pendingLogInSeconds * 1000
      const pending: PendingLogIn = { use: 'portal log-in', ...secrets, ...purpose, expiresAtMs }
      return { ...respond(url), pendingLogIn: await keyring.encrypt(JSON.stringify(pending)) }
    } catch (error) {
      if (error instanceof OpenidFailure) return fail(request, ...texts[error.reason], purpose)
      throw error
    }
  }

  async function finish(
    request: PortalRequest,
    person: Person,
    { next, linkIn }: Purpose,
  ): Promise<PortalResponse> {
    if (linkIn !== undefined && isLoggedIn(request)) {
      const rejection = await link(person, request)
      if (rejection !== undefined) return fail(request, 403, rejection, { next, linkIn })
      return { redirectTo: next, notice: 'identity_linked' }
    }
    const admission = await admit(person, request.address)
    if (admission.developer)
      return startSession(admission.developer, request, { method: 'openid', next, person })
    activity.count({ event: 'log_in_failed', address: request.address, detail: 'openid not admitted' })
    return fail(request, 403, admission.rejection, { next })
  }

  get(patterns.openidLogIn, async (request) => {
    const next = nextPath(request, request.query)
    if (request.developer) return { redirectTo: next }
    return begin(request, { next }, (url) => ({ redirectTo: url }))
  })

  get(patterns.openidCallback, async (request) => {
    const pending = await read(request)
    // That of another tab stays valid.
    if (!pending || request.query['state'] !== pending.state) return failed(request, 'expired')
    const { state, next, linkIn, expiresAtMs } = pending
    // Only in the session in which it began.
    if (linkIn !== undefined && !(request.developer && request.sessionHash === linkIn))
      return failed(request, 'expired')
    // Once, even if somebody has copied the cookie.
    const isFirst = await storage.assertions.use(`portal log-in ${digest(state)}`, expiresAtMs)
    if (!isFirst) return failed(request, 'expired', { next })
    const response = new URL(redirectUri(request))
    response.search = new URL(request.url, 'http://portal').search
    try {
      const person = await provider.finish(response, pending)
      return { ...(await finish(request, person, { next, linkIn })), pendingLogIn: null }
    } catch (error) {
      if (!(error instanceof OpenidFailure)) throw error
      return { ...failed(request, error.reason, { next, linkIn }), pendingLogIn: null }
    }
  })

  post(patterns.linkOpenid, async (request) => {
    const { paths, sessionHash: linkIn } = request
    const response = await logInAgain(request)
    if (response) return response
    return begin(request, { next: paths.account, linkIn }, (url) => ({
      page: linkPage(request, name, url),
    }))
  })

  post(patterns.unlinkOpenid, async (request) => {
    if (!hasPassword(request.developer, settings.localPasswords)) throw new PortalError('not_found')
    const response = await logInAgain(request)
    if (response) return response
    await unlink(request)
    return { redirectTo: request.paths.account, notice: 'identity_unlinked' }
  })
}

const title = 'Your account'

/** Of the account page; empty if the account at the provider is the only way to log in. */
export function linkSection(
  { paths, csrfToken }: DeveloperRequest,
  { name, administratorGroups }: OpenidProviderSettings,
  { isLinked, withPassword }: { readonly isLinked: boolean; readonly withPassword: boolean },
): SafeHtml | string {
  if (!isLinked)
    return html`<form method="post" action="${paths.linkOpenid}" class="card form">
      <h2>Log in with ${name}</h2>
      <p class="hint">
        Link your account there to log in with it, too.
        ${administratorGroups.length > 0 ? 'When you log in with it, its groups decide your role.' : ''}
      </p>
      ${csrfInput(csrfToken)}<button>Link your account at ${name}</button>
    </form>`
  if (!withPassword) return ''
  return html`<form method="post" action="${paths.unlinkOpenid}" class="card form">
    <h2>Log in with ${name}</h2>
    <p class="hint">
      Your account there is linked. If you unlink it, you are logged out wherever you logged in with it.
    </p>
    ${csrfInput(csrfToken)}<button class="outline">Unlink your account at ${name}</button>
  </form>`
}

/** Continues to the provider. Not a redirect, as at the log-out. */
function linkPage(request: PortalRequest, name: string, url: string): PageContent {
  const body = html`<p class="card"><a href="${url}">Continue to ${name}</a></p>`
  return { title, body, isCard: true, continueTo: url }
}

function notLinkedPage(request: PortalRequest, problem: string): PageContent {
  const body = html`<div role="alert" class="notice" data-variant="danger">${problem}</div>
    <p><a href="${request.paths.account}">Back to your account</a></p>`
  return { title, body }
}
