import { randomBytes } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { digest } from '../../runtime/digest.ts'
import { NoLongerAllowed, type Performer } from '../../storage/act.ts'
import type { Actor } from '../../storage/audit-storage.ts'
import type { Developer } from '../../storage/developer.ts'
import { developerStorage } from '../people/storage.ts'
import { sessionStorage } from './storage.ts'
import type { ServiceContext } from '../context.ts'
import type { DeveloperRequest, PortalRequest, PortalResponse } from '../../portal/page-routes.ts'
import type { Person } from './openid-provider.ts'
import type { Keyring } from '../../runtime/keyring.ts'

export const pendingLogInSeconds = 600
const cookieName = 'tokenwell_portal'
const recentMs = 15 * 60_000
const sessionSeconds = 12 * 60 * 60
const deviceCookie = 'tokenwell_portal_device'
const pendingCookie = 'tokenwell_portal_log_in'
const deviceSeconds = 365 * 86_400

export interface CookieOptions {
  readonly path: string
  readonly secure: boolean | 'auto'
  readonly httpOnly: true
  readonly sameSite: 'lax'
}

/** The digest of the session ID in the request's cookie: only the browser stores the ID itself. */
export function sessionHash({ cookies }: FastifyRequest): string | undefined {
  const id = cookies[cookieName]
  return id === undefined ? undefined : digest(id)
}

/** Stores the session ID in the browser; `null` deletes it. */
export function setSessionCookie(reply: FastifyReply, id: string | null, options: CookieOptions): void {
  if (id === null) void reply.clearCookie(cookieName, options)
  else void reply.setCookie(cookieName, id, { ...options, maxAge: sessionSeconds })
}

export function knownDevice({ cookies }: FastifyRequest): string | undefined {
  return cookies[deviceCookie]
}

/** Log-ins of this device are checked first from now on. */
export function setDeviceCookie(reply: FastifyReply, device: string, options: CookieOptions): void {
  void reply.setCookie(deviceCookie, device, { ...options, maxAge: deviceSeconds })
}

export function pendingLogIn({ cookies }: FastifyRequest): string | undefined {
  return cookies[pendingCookie]
}

/** Binds a log-in at the OpenID provider to this browser; `null`: it is over. */
export function setPendingLogIn(reply: FastifyReply, pending: string | null, options: CookieOptions): void {
  if (pending === null) void reply.clearCookie(pendingCookie, options)
  else void reply.setCookie(pendingCookie, pending, { ...options, maxAge: pendingLogInSeconds })
}

/** How somebody logged in. */
interface LogIn {
  readonly method: 'password' | 'link' | 'openid'
  /** The path to continue to. @default the overview */
  readonly next?: string | undefined
  /** Whom the OpenID provider has logged in: a log-out on one side ends the session on the other. */
  readonly person?: Person | undefined
}

/**
 * Logs a developer in, always with a new session ID: an ID that was known before the login is useless. Rejects with
 * {@link NoLongerAllowed} if the developer was blocked or removed, or has another password, since the log-in was checked.
 */
export function createSessionStarter({ perform, activity, keyring, clock }: ServiceContext) {
  return async (
    developer: Pick<Developer, 'id' | 'name' | 'passwordHash'>,
    request: PortalRequest,
    { method, next = request.paths.root, person }: LogIn,
  ): Promise<PortalResponse> => {
    const { sessionHash: previous, address, userAgent } = request
    const sessionId = randomBytes(32).toString('base64url')
    const expiresAtMs = clock.now() + sessionSeconds * 1000
    const provider = person && {
      issuer: person.issuer,
      subject: person.subject,
      sid: person.sid,
      idToken: await keyring.encrypt(person.idToken),
    }
    await perform(personOf({ developer, address }), async (act) => {
      const current = await developerStorage(act).findById(developer.id)
      if (current?.passwordHash !== developer.passwordHash) throw new NoLongerAllowed()
      const sessions = sessionStorage(act)
      if (previous !== undefined) await sessions.close(previous)
      const hash = digest(sessionId)
      const browser = describeBrowser(userAgent)
      await sessions.open({ hash, developerId: developer.id, expiresAtMs, provider, address, browser })
      act.audit('logged_in', { detail: method })
    })
    activity.used([developer.id])
    return { redirectTo: next, sessionId, device: createKnownDevice(keyring, developer.id) }
  }
}

/** When a session that expires then began. */
export function sessionStart(expiresAtMs: number): number {
  return expiresAtMs - sessionSeconds * 1000
}

const browsers = [
  ['Edge', /\bEdg(?:A|iOS)?\//],
  ['Opera', /\bOPR\//],
  ['Firefox', /\b(?:Firefox|FxiOS)\//],
  ['Chrome', /\b(?:Chrome|CriOS|HeadlessChrome)\//],
  ['Safari', /\bSafari\//],
] as const
const systems = [
  ['Android', /Android/],
  ['iOS', /iPhone|iPad/],
  ['Windows', /Windows/],
  ['macOS', /Mac OS X/],
  ['ChromeOS', /CrOS/],
  ['Linux', /Linux/],
] as const

/** Such as `Firefox on Linux`: enough to recognise one's own browser. */
export function describeBrowser(userAgent: string): string {
  const nameIn = (all: typeof browsers | typeof systems) =>
    all.find(([, pattern]) => pattern.test(userAgent))?.[0]
  const [browser = 'Another browser', system] = [nameIn(browsers), nameIn(systems)]
  return system === undefined ? browser : `${browser} on ${system}`
}

/** For what a stolen session must not be able to do: people who did not log in lately must log in again. */
export function createLogInAgain({ storage, perform, clock }: ServiceContext) {
  return async (request: DeveloperRequest): Promise<PortalResponse | undefined> => {
    const { sessionHash: hash, paths } = request
    const expiresAtMs = (await storage.sessions.findExpiry(hash)) ?? 0
    if (sessionStart(expiresAtMs) > clock.now() - recentMs) return undefined
    await perform(personOf(request), async (act) => {
      await sessionStorage(act).close(hash)
      act.audit('logged_out')
    })
    const next = new URLSearchParams({ next: paths.account }).toString()
    return { redirectTo: `${paths.logIn}?${next}`, sessionId: null, notice: 'log_in_again' }
  }
}

/** For the cookie of a device on which a developer has logged in: only that developer's log-ins profit from it. */
function createKnownDevice(keyring: Keyring, developerId: string): string {
  const nonce = randomBytes(16).toString('base64url')
  const { keyId, hash } = keyring.hash(deviceText(developerId, nonce))
  return [keyId, nonce, hash].join('.')
}

export function isKnownDevice(keyring: Keyring, device = '', developerId: string): boolean {
  const [keyId = '', nonce = '', hash = ''] = device.split('.')
  return keyring.matching([{ keyId, hash }], deviceText(developerId, nonce)).length > 0
}

function deviceText(developerId: string, nonce: string): string {
  return `portal device ${developerId} ${nonce}`
}

/** Somebody whom no session allows the act, but a password or a link, or who ends a session. */
export function personOf({
  developer,
  address,
}: {
  readonly developer: Pick<Developer, 'id' | 'name'>
  readonly address: string
}): Actor {
  return { actorType: 'person', actor: developer.name, actorId: developer.id, address }
}

/**
 * The developer, as far as the act is allowed when its turn comes: in this session, in the same role, and as an owner of the project in
 * the URL.
 *
 * @param projectId another project that must be the developer's own
 */
export function actorOf(request: DeveloperRequest, projectId?: string): Performer {
  const { sessionHash, developer, params } = request
  const projectIds = [params['projectId'], projectId].filter((id) => id !== undefined)
  const permission = { sessionHash, asAdministrator: developer.administrator, projectIds }
  return { ...personOf(request), permission }
}
