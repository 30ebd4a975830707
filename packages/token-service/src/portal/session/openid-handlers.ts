import { z } from 'zod'
import { portalRoot } from '../../http/base-url.ts'
import type { ServiceContext } from '../../oauth/service-context.ts'
import { digest } from '../../runtime/digest.ts'
import { emptyForm } from '../layout/form.ts'
import { PortalError } from '../portal-error.ts'
import type { HandlersOf, PortalRequest, PortalResponse } from '../portal-request.ts'
import { logInPage, nextPath } from './log-in-page.ts'
import { createOpenidAccounts } from './openid-accounts.ts'
import { OpenidFailure, type OpenidProvider } from './openid-provider.ts'
import { sessionPaths, type openidRoutes } from './session-routes.ts'
import { createSessionStarter, pendingLogInSeconds } from './session.ts'

const pendingLogIn = z.object({
  use: z.literal('portal log-in'),
  state: z.string(),
  nonce: z.string(),
  codeVerifier: z.string(),
  next: z.string(),
  expiresAtMs: z.number(),
})

type PendingLogIn = z.output<typeof pendingLogIn>

/** Logging in through the OpenID provider. */
export function openidHandlers(
  service: ServiceContext,
  provider: OpenidProvider | undefined,
): HandlersOf<typeof openidRoutes> {
  if (!provider) {
    const notFound = async () => {
      throw new PortalError('not_found')
    }
    return { beginOpenidLogIn: notFound, finishOpenidLogIn: notFound }
  }
  const { keyring, clock, storage, activity } = service
  const { settings } = provider
  const { name } = settings
  const startSession = createSessionStarter(service)
  const admit = createOpenidAccounts(service, settings)
  const redirectUri = ({ baseUrl }: PortalRequest) => `${baseUrl}${portalRoot}${sessionPaths.openidCallback}`

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

  function fail(request: PortalRequest, status: number, problem: string, next: string): PortalResponse {
    // A developer who is logged in stays so.
    const viewer = { ...request, developer: undefined }
    const content = { state: emptyForm, hasDevelopers: true, next, provider: settings, problem }
    return {
      page: logInPage(viewer, content),
      status,
      ...(status === 503 && { retryAfterSeconds: 60 }),
    }
  }

  function failed(request: PortalRequest, reason: keyof typeof texts, next = request.paths.root) {
    activity.count({ event: 'log_in_failed', address: request.address, detail: `openid ${reason}` })
    return fail(request, ...texts[reason], next)
  }

  /** Of this browser: another one has no such cookie. */
  async function read({ pendingLogIn: cookie }: PortalRequest): Promise<PendingLogIn | undefined> {
    const text = cookie === undefined ? undefined : await keyring.decrypt(cookie)
    if (text === undefined) return undefined
    const { data } = pendingLogIn.safeParse(JSON.parse(text))
    return data && data.expiresAtMs > clock.now() ? data : undefined
  }

  return {
    async beginOpenidLogIn(request) {
      const next = nextPath(request, request.query)
      if (request.developer) return { redirectTo: next }
      try {
        const { url, ...secrets } = await provider.begin(redirectUri(request))
        const expiresAtMs = clock.now() + pendingLogInSeconds * 1000
        const pending: PendingLogIn = { use: 'portal log-in', ...secrets, next, expiresAtMs }
        return { redirectTo: url, pendingLogIn: await keyring.encrypt(JSON.stringify(pending)) }
      } catch (error) {
        if (error instanceof OpenidFailure) return fail(request, ...texts[error.reason], next)
        throw error
      }
    },
    async finishOpenidLogIn(request) {
      const pending = await read(request)
      // That of another tab stays valid.
      if (!pending || request.query['state'] !== pending.state) return failed(request, 'expired')
      const { state, next, expiresAtMs } = pending
      // Once, even if somebody has copied the cookie.
      const isFirst = await storage.assertions.use(`portal log-in ${digest(state)}`, expiresAtMs)
      if (!isFirst) return failed(request, 'expired', next)
      const response = new URL(redirectUri(request))
      response.search = new URL(request.url, 'http://portal').search
      try {
        const person = await provider.finish(response, pending)
        const { developer, rejection } = await admit(person, request.address)
        if (developer) {
          const started = await startSession(developer, request, { method: 'openid', next, person })
          return { ...started, pendingLogIn: null }
        }
        activity.count({ event: 'log_in_failed', address: request.address, detail: 'openid not admitted' })
        return { ...fail(request, 403, rejection, next), pendingLogIn: null }
      } catch (error) {
        if (!(error instanceof OpenidFailure)) throw error
        return { ...failed(request, error.reason, next), pendingLogIn: null }
      }
    },
  }
}
