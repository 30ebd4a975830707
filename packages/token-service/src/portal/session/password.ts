import { randomBytes, scrypt, timingSafeEqual, type ScryptOptions } from 'node:crypto'
import { limitFunction } from 'p-limit'
import { z } from 'zod'
import { PortalError } from '../portal-error.ts'

/** OWASP's parameters. Each hash needs 32 MiB and about 0.2 s: only a few may run at once. Tests lower it. */
export const passwordCost = { N: 2 ** 15, r: 8, p: 3 }
const saltLength = 16
const hashLength = 32
const maxPending = 12
let pending = 0

/** A password that a developer chooses. */
export const newPassword = z
  .string()
  .min(12, 'Use at least 12 characters.')
  .max(200, 'Use at most 200 characters.')

/** Hashes a password with scrypt (RFC 7914); the result includes the parameters. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(saltLength)
  const { N, r, p } = passwordCost
  const hash = await derive(password, salt, { N, r, p })
  return ['scrypt', N, r, p, salt.toString('base64url'), hash.toString('base64url')].join('$')
}

/** Takes the same time for an account that does not exist and therefore has no hash. */
export async function isPassword(password: string, stored: string | undefined): Promise<boolean> {
  const [, N, r, p, salt = '', hash = ''] = stored?.split('$') ?? []
  if (stored === undefined) {
    await derive(password, Buffer.alloc(saltLength), passwordCost)
    return false
  }
  const options = { N: Number(N), r: Number(r), p: Number(p) }
  const expected = Buffer.from(hash, 'base64url')
  const derived = await derive(password, Buffer.from(salt, 'base64url'), options)
  return expected.length === derived.length && timingSafeEqual(expected, derived)
}

async function derive(password: string, salt: Buffer, options: ScryptOptions): Promise<Buffer> {
  if (pending >= maxPending) throw new PortalError('busy')
  pending += 1
  try {
    return await scryptHash(password, salt, options)
  } finally {
    pending -= 1
  }
}

const scryptHash = limitFunction(
  (password: string, salt: Buffer, options: ScryptOptions) =>
    new Promise<Buffer>((resolve, reject) => {
      // Different ways to type an accented letter are equal.
      const text = password.normalize('NFKC')
      scrypt(text, salt, hashLength, { ...options, maxmem: 256 * 1024 * 1024 }, (error, key) =>
        error ? reject(error) : resolve(key),
      )
    }),
  { concurrency: 2 },
)
