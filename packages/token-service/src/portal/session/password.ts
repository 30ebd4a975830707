import { randomBytes, randomInt, scrypt, timingSafeEqual, type ScryptOptions } from 'node:crypto'
import { z } from 'zod'
import { PortalError } from '../portal-error.ts'

/** OWASP's parameters. Each hash needs 32 MiB and about 0.2 s: only a few may run at once. Tests lower it. */
export const passwordCost = { N: 2 ** 15, r: 8, p: 3 }
const saltLength = 16
const hashLength = 32
const concurrency = 2
const leastDifferent = 5

/** Log-ins of devices that have logged in before are checked first: a flood of others does not delay them. */
export type Lane = 'known' | 'other'

interface Waiting {
  readonly start: () => void
  readonly reject: (error: unknown) => void
}

const maxWaiting = { known: 24, other: 100 }
/** Less than the server's `connectionTimeout`, which would close the connection without a response. */
const maxWaitMs = 20_000
const waiting: Record<Lane, Waiting[]> = { known: [], other: [] }
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
  const hash = await derive(password, salt, { N, r, p }, 'known')
  return ['scrypt', N, r, p, salt.toString('base64url'), hash.toString('base64url')].join('$')
}

/** Takes the same time for an account that does not exist and therefore has no hash. */
export async function isPassword(password: string, stored: string | undefined, lane: Lane): Promise<boolean> {
  const [, N, r, p, salt = '', hash = ''] = stored?.split('$') ?? []
  if (stored === undefined) {
    await derive(password, Buffer.alloc(saltLength), passwordCost, lane)
    return false
  }
  const options = { N: Number(N), r: Number(r), p: Number(p) }
  const expected = Buffer.from(hash, 'base64url')
  const derived = await derive(password, Buffer.from(salt, 'base64url'), options, lane)
  return expected.length === derived.length && timingSafeEqual(expected, derived)
}

async function derive(password: string, salt: Buffer, options: ScryptOptions, lane: Lane): Promise<Buffer> {
  await turn(lane)
  try {
    return await scryptHash(password, salt, options)
  } finally {
    running -= 1
    startNext()
  }
}

function turn(lane: Lane): Promise<void> {
  return new Promise((start, reject) => {
    const queue = waiting[lane]
    // Any of those that wait, so that a client that sends many cannot keep the others out.
    if (queue.length >= maxWaiting[lane]) {
      queue.splice(randomInt(queue.length), 1)[0]?.reject(new PortalError('busy'))
    }
    const timer = setTimeout(() => {
      queue.splice(queue.indexOf(next), 1)
      reject(new PortalError('busy'))
    }, maxWaitMs)
    const next: Waiting = {
      start() {
        clearTimeout(timer)
        start()
      },
      reject(error) {
        clearTimeout(timer)
        reject(error)
      },
    }
    queue.push(next)
    startNext()
  })
}

function startNext(): void {
  while (running < concurrency) {
    const next = waiting.known.shift() ?? waiting.other.shift()
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
