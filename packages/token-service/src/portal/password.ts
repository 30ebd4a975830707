import { randomBytes, scrypt, timingSafeEqual, type ScryptOptions } from 'node:crypto'
import pLimit from 'p-limit'
import { z } from 'zod'
import { PortalRefusal } from './portal-refusal.ts'

// 32 MiB and some 0.2 s each (OWASP's parameters): the memory is the point, so few may run at once.
const cost = { N: 2 ** 15, r: 8, p: 3 }
const saltLength = 16
const hashLength = 32
const maxWaiting = 10
const atOnce = pLimit(2)

/** What a developer may choose. */
export const newPassword = z
  .string()
  .min(12, 'At least 12 characters, please.')
  .max(200, 'At most 200 characters, please.')

/** Hashes a password with scrypt (RFC 7914), its parameters beside it. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(saltLength)
  const hash = await derive(password, salt, cost)
  return ['scrypt', cost.N, cost.r, cost.p, salt.toString('base64url'), hash.toString('base64url')].join('$')
}

/** Takes as long for an account that does not exist, which has no hash. */
export async function isPassword(password: string, stored: string | undefined): Promise<boolean> {
  const [, N, r, p, salt = '', hash = ''] = stored?.split('$') ?? []
  if (stored === undefined) {
    await derive(password, Buffer.alloc(saltLength), cost)
    return false
  }
  const options = { N: Number(N), r: Number(r), p: Number(p) }
  const expected = Buffer.from(hash, 'base64url')
  const derived = await derive(password, Buffer.from(salt, 'base64url'), options)
  return expected.length === derived.length && timingSafeEqual(expected, derived)
}

function derive(password: string, salt: Buffer, options: ScryptOptions): Promise<Buffer> {
  if (atOnce.pendingCount >= maxWaiting) throw new PortalRefusal('busy')
  return atOnce(
    () =>
      new Promise<Buffer>((resolve, reject) => {
        // One way to type an accented letter must be as good as another.
        const text = password.normalize('NFKC')
        scrypt(text, salt, hashLength, { ...options, maxmem: 256 * 1024 * 1024 }, (error, key) =>
          error ? reject(error) : resolve(key),
        )
      }),
  )
}
