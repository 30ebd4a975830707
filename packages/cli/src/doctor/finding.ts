import type { TokenError } from '@tokenwell/core'

/** The subject of a finding. */
export type Check =
  | 'environment'
  | 'authentication'
  | 'address'
  | 'network'
  | 'certificate'
  | 'request'
  | 'response'
  | 'lifetime'
  | 'clock'
  | 'api'
  | 'wrong secret'

/** One result of `tokenwell doctor`. */
export interface Finding {
  readonly check: Check
  /** A `problem` prevents you from getting a token; a `warning` does not, but may do so later. */
  readonly level: 'ok' | 'note' | 'warning' | 'problem'
  /** Stable, for programs. */
  readonly code: string
  readonly message: string
  /** How to fix it. */
  readonly advice?: string | undefined
}

/** Creates findings of one check: `request.problem('dropped', 'The connection was closed.', 'Try again.')`. */
export function findingsOf(check: Check) {
  const create =
    (level: Finding['level']) =>
    (code: string, message: string, advice?: string): Finding => ({ check, level, code, message, advice })
  return { ok: create('ok'), note: create('note'), warning: create('warning'), problem: create('problem') }
}

/** Details of a failed token request, with the server's own reason: `status 401, invalid_client, "No such client."` */
export function failureDetails({ status, oauthError, vendorCode, reason }: TokenError): string {
  return [
    status === undefined ? 'no response' : `status ${status}`,
    oauthError,
    vendorCode,
    reason && `"${reason}"`,
  ]
    .filter(Boolean)
    .join(', ')
}

/** Removes control characters and secrets, which a server may repeat, from a finding. */
export function redactFinding(finding: Finding, secrets: readonly string[]): Finding {
  const forms = secrets
    .filter((secret) => secret.length > 3)
    .flatMap((secret) => [
      secret,
      encodeURIComponent(secret),
      new URLSearchParams([['', secret]]).toString().slice(1),
    ])
  const clean = (text: string): string =>
    forms
      .reduce((rest, form) => rest.replaceAll(form, '[redacted]'), text)
      .replace(/\p{C}/gu, '�')
      .slice(0, 600)
  const { message, advice } = finding
  return { ...finding, message: clean(message), ...(advice !== undefined && { advice: clean(advice) }) }
}

/** Duration of each part, in milliseconds. */
export interface Timings {
  readonly lookup?: number | undefined
  readonly connection?: number | undefined
  readonly tls?: number | undefined
  readonly response?: number | undefined
}

const units = [
  ['day', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
] as const

/** Uses the two largest units: `59 min 50 s`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 10_000) return `${Math.round(ms / 100) / 10} s`
  let rest = Math.round(ms / 1000) * 1000
  const parts: string[] = []
  for (const [unit, size] of units) {
    const count = Math.floor(rest / size)
    rest -= count * size
    if (count > 0) parts.push(`${count} ${unit}${unit === 'day' && count > 1 ? 's' : ''}`)
  }
  return parts.slice(0, 2).join(' ')
}
