import { randomBytes, timingSafeEqual } from 'node:crypto'
import { parseCookie, stringifySetCookie } from 'cookie'
import { digest } from '../digest.ts'
import type { Keyring } from '../keys/keyring.ts'

const cookieName = 'tokenwell_portal'

export const sessionSeconds = 12 * 60 * 60

/** One browser's time with the portal; its id becomes a session's when its developer logs in. */
export interface Visit {
  /** 256 random bits, known to this browser alone. */
  readonly id: string
  /** What every form of this visit carries, and none that another site makes. */
  readonly formToken: string
  /** What is kept of the id. */
  readonly hash: string
}

export function createVisit(keyring: Keyring): Visit {
  return visitOf(keyring, randomBytes(32).toString('base64url'))
}

/** The visit that the cookie tells of, if we signed it. */
export function readVisit(keyring: Keyring, cookies: string | undefined): Visit | undefined {
  const [id = '', signature = ''] = parseCookie(cookies ?? '')[cookieName]?.split('.') ?? []
  return isSigned(keyring, 'visit', id, signature) ? visitOf(keyring, id) : undefined
}

export function isFormToken(keyring: Keyring, { id }: Visit, presented: unknown): boolean {
  return typeof presented === 'string' && isSigned(keyring, 'form', id, presented)
}

export interface VisitCookieOptions {
  readonly path: string
  readonly secure: boolean
  /** @default until the browser is closed */
  readonly maxAge?: number | undefined
}

/** The header that has the browser keep the visit, or forget it. */
export function visitCookie(
  keyring: Keyring,
  visit: Visit | undefined,
  { path, secure, maxAge }: VisitCookieOptions,
): string {
  const value = visit ? `${visit.id}.${sign(keyring, 'visit', visit.id)}` : ''
  const age = visit ? maxAge : 0
  const rights = { path, secure, httpOnly: true, sameSite: 'lax' as const }
  return stringifySetCookie({ name: cookieName, value, ...rights, ...(age !== undefined && { maxAge: age }) })
}

function visitOf(keyring: Keyring, id: string): Visit {
  return { id, formToken: sign(keyring, 'form', id), hash: digest(id) }
}

type Purpose = 'visit' | 'form'

function sign(keyring: Keyring, purpose: Purpose, id: string): string {
  return keyring.hash(`portal ${purpose} ${id}`).hash
}

function isSigned(keyring: Keyring, purpose: Purpose, id: string, signature: string): boolean {
  const presented = Buffer.from(signature)
  return [...keyring.hashes(`portal ${purpose} ${id}`).values()].some((hash) => {
    const expected = Buffer.from(hash.toString('base64url'))
    return expected.length === presented.length && timingSafeEqual(expected, presented)
  })
}
