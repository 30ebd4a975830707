import { TokenError } from '@tokenwell/core'
import { SpeechApiError } from './speech-api-error.ts'

/** Yields an error and its causes: HTTP clients wrap errors in their own. */
export function* errorCauses(error: unknown): Generator {
  for (let cause = error; cause !== undefined && cause !== null; cause = Object(cause).cause) yield cause
}

/** Whether the same request may succeed later. */
export function isRetryable(error: unknown): boolean {
  for (const cause of errorCauses(error)) {
    if (cause instanceof SpeechApiError) return cause.isRetryable
    if (cause instanceof TokenError) return cause.kind === 'unavailable' || cause.kind === 'throttled'
  }
  return true
}
