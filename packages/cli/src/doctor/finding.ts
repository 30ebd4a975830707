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
