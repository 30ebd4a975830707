import { randomFillSync } from 'node:crypto'
import { digest } from '../digest.ts'

const tokenBytes = 32

// Asking the system for randomness costs as much as all else about a token: it is drawn for many at once.
const pool = Buffer.allocUnsafe(tokenBytes * 128)
let used = pool.length

/** 256 random bits; opaque, of characters that a bearer token may have (RFC 6750 section 2.1). */
export function createAccessToken(): string {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += tokenBytes
  return pool.toString('base64url', used - tokenBytes, used)
}

/** A plain digest will do: nobody can guess their way to 256 random bits. */
export function accessTokenHash(token: string): string {
  return digest(token)
}
