import { randomFillSync } from 'node:crypto'
import { digest } from '../platform/digest.ts'

const tokenBytes = 32

// A call for random bytes costs as much as everything else about a token: one call serves many tokens.
const pool = Buffer.allocUnsafe(tokenBytes * 128)
let used = pool.length

/** An opaque token of 256 random bits, in the characters of a bearer token (RFC 6750, section 2.1). */
export function createAccessToken(): string {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += tokenBytes
  return pool.toString('base64url', used - tokenBytes, used)
}

/** A plain digest is enough: 256 random bits cannot be guessed. */
export function accessTokenHash(token: string): string {
  return digest(token)
}
