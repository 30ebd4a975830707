import { randomBytes, randomUUID } from 'node:crypto'
import type { StoredSecret } from '../storage/application.ts'
import type { Keyring } from '../runtime/keyring.ts'

const prefixLength = 4
const configuredPrefix = 'configured-'

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
  { id = randomUUID(), ownerId, value, nowMs, expiresAtMs }: NewSecret,
): StoredSecret {
  const prefix = value.slice(0, Math.min(prefixLength, Math.floor(value.length / 4)))
  return { id, ownerId, ...keyring.hash(value), prefix, createdAtMs: nowMs, expiresAtMs }
}

export interface NewSecret {
  /** @default a random one */
  readonly id?: string | undefined
  readonly ownerId: string
  readonly value: string
  readonly nowMs: number
  readonly expiresAtMs?: number | undefined
}

/** The ID of a secret from the configuration; `text`: what makes it unique. */
export function configuredId(text: string): string {
  return configuredPrefix + text
}

/** Whether a secret is from the configuration. */
export function isConfigured({ id }: Pick<StoredSecret, 'id'>): boolean {
  return id.startsWith(configuredPrefix)
}
