/** What a finding is about. */
export type Check =
  | 'address'
  | 'network'
  | 'certificate'
  | 'request'
  | 'answer'
  | 'lifetime'
  | 'clock'
  | 'wrong secret'

/** One thing that doctor found out. */
export interface Finding {
  readonly check: Check
  /** A `problem` stands between you and a token; a `warning` does not, yet. */
  readonly level: 'ok' | 'note' | 'warning' | 'problem'
  /** Stable, for programs. */
  readonly code: string
  readonly message: string
  /** What to do about it. */
  readonly advice?: string | undefined
}

/** Makes findings of one check: `request.problem('dropped', 'It hung up.', 'Try again.')`. */
export function findingsOf(check: Check) {
  const make =
    (level: Finding['level']) =>
    (code: string, message: string, advice?: string): Finding => ({ check, level, code, message, advice })
  return { ok: make('ok'), note: make('note'), warning: make('warning'), problem: make('problem') }
}
