import type { TokenErrorKind } from '@tokenwell/core'
import type { TokenFailure } from '@tokenwell/core/protocol'

const kinds: readonly TokenErrorKind[] = [
  'credentials',
  'configuration',
  'throttled',
  'unavailable',
  'malformed',
  'aborted',
]

export function writeCooldownDocument(failure: TokenFailure): string {
  const { kind, message, status, oauthError, vendorCode, retryAfterMs, attempts, failures } = failure
  return JSON.stringify({ kind, message, status, oauthError, vendorCode, retryAfterMs, attempts, failures })
}

/** @throws {TypeError | SyntaxError} for an invalid document */
export function readCooldownDocument(text: string): TokenFailure {
  const members = (JSON.parse(text) ?? {}) as Record<string, unknown>
  const kind = kinds.find((name) => name === members['kind'])
  const message = members['message']
  if (kind === undefined || typeof message !== 'string') throw new TypeError('not a cooldown')
  const failure = {
    kind,
    message: message.slice(0, 500),
    status: number(members['status']),
    oauthError: code(members['oauthError']),
    vendorCode: code(members['vendorCode']),
    retryAfterMs: number(members['retryAfterMs']),
    attempts: number(members['attempts']),
    failures: number(members['failures']),
  }
  return Object.fromEntries(Object.entries(failure).filter(([, value]) => value !== undefined)) as never
}

function number(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 ? value : undefined
}

function code(value: unknown): string | undefined {
  return typeof value === 'string' && /^[\w.-]{1,80}$/.test(value) ? value : undefined
}
