import { configurationError } from '@tokenwell/core/protocol'
import type { TokenVerifierOptions } from './token-verifier-options.ts'

/** The longest delay of a timer; a longer one fires at once. */
const maxDelayMs = 2 ** 31 - 1

/** @throws {TokenError} naming the option, for numbers out of range and for a `publicUrl` that is not an HTTP URL */
export function checkOptions({
  introspection = {} as NonNullable<TokenVerifierOptions['introspection']>,
  dpop = {},
  clockToleranceSeconds,
  maxCachedTokens,
  publicUrl,
}: TokenVerifierOptions): void {
  const { cacheMs, staleIfErrorMs, timeoutMs, maxConnections, maxWaiting } = introspection
  checkNumber('maxCachedTokens', maxCachedTokens, isPositiveInteger, 'a positive integer')
  checkNumber('clockToleranceSeconds', clockToleranceSeconds, isDuration, 'a finite number, 0 or more')
  checkNumber('introspection.cacheMs', cacheMs, isNotNegative, 'a number, 0 or more')
  checkNumber('introspection.staleIfErrorMs', staleIfErrorMs, isNotNegative, 'a number, 0 or more')
  checkNumber(
    'introspection.timeoutMs',
    timeoutMs,
    (value) => value > 0 && value <= maxDelayMs,
    `a positive number, at most ${maxDelayMs}`,
  )
  checkNumber('introspection.maxConnections', maxConnections, isPositiveInteger, 'a positive integer')
  checkNumber('introspection.maxWaiting', maxWaiting, isNotNegative, 'a number, 0 or more')
  checkNumber(
    'dpop.maxAgeSeconds',
    dpop.maxAgeSeconds,
    (value) => isDuration(value) && value > 0,
    'a positive, finite number',
  )
  checkNumber('dpop.maxProofs', dpop.maxProofs, isNotNegative, 'a number, 0 or more')
  if (publicUrl !== undefined && !isHttpUrl(publicUrl)) {
    throw configurationError(
      'publicUrl is not a valid URL. Include the scheme, as in https://api.example.com.',
    )
  }
}

function checkNumber(
  option: string,
  value: number | undefined,
  isValid: (value: number) => boolean,
  expected: string,
): void {
  if (value === undefined || (typeof value === 'number' && isValid(value))) return
  throw configurationError(`${option} must be ${expected}.`)
}

const isPositiveInteger = (value: number): boolean => Number.isSafeInteger(value) && value > 0
const isDuration = (value: number): boolean => Number.isFinite(value) && value >= 0
const isNotNegative = (value: number): boolean => value >= 0

function isHttpUrl(value: string | URL): boolean {
  // Without a scheme, `localhost:8080` parses as a URL with the scheme `localhost:`.
  return URL.canParse(String(value)) && /^https?:$/.test(new URL(value).protocol)
}
