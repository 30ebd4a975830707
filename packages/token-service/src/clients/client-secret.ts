import { randomBytes, randomUUID } from 'node:crypto'
import type { Keyring } from './keyring.ts'
import type { StoredSecret } from '../storage/application.ts'

const prefixLength = 4

/** The start of the IDs of secrets from the configuration. */
export const configuredSecretPrefix = 'configured-'

/** 128 random bits in hexadecimal: never starts with `-`, which commands take for a flag. */
export function createClientId(): string {
  return randomBytes(16).toString('hex')
}

/** 256 random bits. */
export function createClientSecret(): string {
  return randomBytes(32).toString('base64url')
}

/** The stored form of a secret. */
export function storedSecret(
  keyring: Keyring,
  { applicationId, value, nowMs, expiresAtMs }: NewSecret,
): StoredSecret {
  const prefix = value.slice(0, Math.min(prefixLength, Math.floor(value.length / 4)))
  return { id: randomUUID(), applicationId, ...keyring.hash(value), prefix, createdAtMs: nowMs, expiresAtMs }
}

export interface NewSecret {
  readonly applicationId: string
  readonly value: string
  readonly nowMs: number
  readonly expiresAtMs?: number | undefined
}
