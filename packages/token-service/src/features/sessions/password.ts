import type { Developer } from '../../storage/developer.ts'
import { randomBytes, randomInt, scrypt, timingSafeEqual, type ScryptOptions } from 'node:crypto'
import { z } from 'zod'
import { PortalError } from '../../portal/portal-error.ts'

/** OWASP's parameters. Each hash needs 32 MiB and about 0.2 s: only a few may run at once. Tests lower it. */
export const passwordCost = { N: 2 ** 15, r: 8, p: 3 }
const saltLength = 16
const hashLength = 32
const concurrency = 2
const leastDifferent = 5

/**
 * Which log-ins are checked first: those of devices that have logged in before, then those of the networks with the fewest wrong
 * passwords in the last minutes. So a flood of guesses delays neither.
 */
type Rank = number
export const knownDevice: Rank = -1

interface Waiting {
  readonly rank: Rank
  readonly start: () => void
  readonly reject: (error: unknown) => void
}

const maxWaiting = { knownDevices: 24, others: 100 }
/** Less than the server's `connectionTimeout`, which would close the connection without a response. */
const maxWaitMs = 20_000
/** By rank, then by arrival. */
const waiting: Waiting[] = []
let running = 0

/** A password that a developer of that name chooses. */
export function newPassword(name: string) {
  return z
    .string()
    .min(12, 'Use at least 12 characters.')
    .max(200, 'Use at most 200 characters.')
    .refine(
      (password) => new Set(password.replaceAll(/\s/g, '')).size >= leastDifferent,
      `Use at least ${leastDifferent} different characters.`,
    )
    .refine((password) => {
      const text = password.normalize('NFKC').toLowerCase()
      const rest = [name, 'tokenwell']
        .filter(Boolean)
        .reduce((left, known) => left.replaceAll(known, ''), text)
      return new Set(rest.replaceAll(/\s/g, '')).size >= leastDifferent
    }, 'Do not use your name or the name of the service.')
}

/** Hashes a password with scrypt (RFC 7914); the result includes the parameters. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(saltLength)
  const { N, r, p } = passwordCost
  const hash = await derive(password, salt, { N, r, p }, knownDevice)
  return ['scrypt', N, r, p, salt.toString('base64url'), hash.toString('base64url')].join('$')
}

/** Takes the same time for an account that does not exist and therefore has no hash. */
export async function isPassword(password: string, stored: string | undefined, rank: Rank): Promise<boolean> {
  const [, N, r, p, salt = '', hash = ''] = stored?.split('$') ?? []
  if (stored === undefined) {
    await derive(password, Buffer.alloc(saltLength), passwordCost, rank)
    return false
  }
  const options = { N: Number(N), r: Number(r), p: Number(p) }
  const expected = Buffer.from(hash, 'base64url')
  const derived = await derive(password, Buffer.from(salt, 'base64url'), options, rank)
  return expected.length === derived.length && timingSafeEqual(expected, derived)
}

async function derive(password: string, salt: Buffer, options: ScryptOptions, rank: Rank): Promise<Buffer> {
  await turn(rank)
  try {
    return await scryptHash(password, salt, options)
  } finally {
    running -= 1
    startNext()
  }
}

function turn(rank: Rank): Promise<void> {
  return new Promise((start, reject) => {
    const timer = setTimeout(() => {
      waiting.splice(waiting.indexOf(next), 1)
      reject(new PortalError('busy'))
    }, maxWaitMs)
    const next: Waiting = {
      rank,
      start() {
        clearTimeout(timer)
        start()
      },
      reject(error) {
        clearTimeout(timer)
        reject(error)
      },
    }
    const after = waiting.findIndex((other) => other.rank > rank)
    waiting.splice(after < 0 ? waiting.length : after, 0, next)
    const isKnown = rank === knownDevice
    const rivals = waiting.filter((other) => (other.rank === knownDevice) === isKnown)
    if (rivals.length > (isKnown ? maxWaiting.knownDevices : maxWaiting.others)) {
      // Any of those that rank last, so that a client that sends many cannot keep the others out.
      const worst = rivals.filter((other) => other.rank === rivals.at(-1)?.rank)
      const dropped = worst[randomInt(worst.length)]!
      waiting.splice(waiting.indexOf(dropped), 1)
      dropped.reject(new PortalError('busy'))
    }
    startNext()
  })
}

function startNext(): void {
  while (running < concurrency) {
    const next = waiting.shift()
    if (!next) return
    running += 1
    next.start()
  }
}

function scryptHash(password: string, salt: Buffer, options: ScryptOptions): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // Different ways to type an accented letter are equal.
    const text = password.normalize('NFKC')
    scrypt(text, salt, hashLength, { ...options, maxmem: 256 * 1024 * 1024 }, (error, key) =>
      error ? reject(error) : resolve(key),
    )
  })
}

/** Those of the OpenID provider have none; if local passwords are switched off, nobody has. */
export function hasPassword({ passwordHash }: Developer, localPasswords: boolean): boolean {
  return localPasswords && passwordHash !== ''
}
