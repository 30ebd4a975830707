import { randomBytes } from 'node:crypto'
import type { Keyring } from '../../clients/keyring.ts'

/** For the cookie of a device on which a developer has logged in: only that developer's log-ins profit from it. */
export function createKnownDevice(keyring: Keyring, developerId: string): string {
  const nonce = randomBytes(16).toString('base64url')
  const { keyId, hash } = keyring.hash(deviceText(developerId, nonce))
  return [keyId, nonce, hash].join('.')
}

export function isKnownDevice(keyring: Keyring, device = '', developerId: string): boolean {
  const [keyId = '', nonce = '', hash = ''] = device.split('.')
  return keyring.matching([{ keyId, hash }], deviceText(developerId, nonce)).length > 0
}

function deviceText(developerId: string, nonce: string): string {
  return `portal device ${developerId} ${nonce}`
}
