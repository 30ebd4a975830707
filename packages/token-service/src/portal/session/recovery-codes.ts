import { randomBytes } from 'node:crypto'
import type { Keyring } from '../../runtime/keyring.ts'
import type { RecoveryCode } from '../../storage/developer-storage.ts'

// Crockford's base 32: no letter looks like a digit.
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const count = 10
const length = 12

export interface NewRecoveryCodes {
  /** Shown once. */
  readonly texts: readonly string[]
  readonly stored: readonly RecoveryCode[]
}

/** Ten codes of 60 random bits, such as `7h2k-9xq4-m0rt`. */
export function createRecoveryCodes(keyring: Keyring, developerId: string): NewRecoveryCodes {
  const texts = Array.from({ length: count }, () => {
    const letters = Array.from(randomBytes(length), (byte) => alphabet[byte % alphabet.length])
    return letters.join('').replaceAll(/.{4}(?=.)/g, '$&-')
  })
  return { texts, stored: texts.map((text) => keyring.hash(hashedText(developerId, text))) }
}

/** The hash of the developer's code that somebody typed, in any case and with any separators. */
export function findRecoveryCode(
  keyring: Keyring,
  developerId: string,
  codes: readonly RecoveryCode[],
  typed: string,
): string | undefined {
  return keyring.matching(codes, hashedText(developerId, typed))[0]?.hash
}

function hashedText(developerId: string, typed: string): string {
  const text = typed
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\da-z]/g, '')
  const code = text.replaceAll('o', '0').replaceAll(/[il]/g, '1')
  return `portal recovery code ${developerId} ${code}`
}
