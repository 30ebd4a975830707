import type { TokenError } from '@tokenwell/core'
/** The subject of a finding. */
export type Check =
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
