import { randomBytes } from 'node:crypto'
import { digest } from '../digest.ts'

/** 256 random bits; opaque, of characters that a bearer token may have (RFC 6750 section 2.1). */
export function createAccessToken(): string {
  return randomBytes(32).toString('base64url')
}

/** A plain digest will do: nobody can guess their way to 256 random bits. */
export function accessTokenHash(token: string): string {
  return digest(token)
}
