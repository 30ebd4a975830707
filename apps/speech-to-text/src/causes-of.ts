import { TokenError } from '@tokenwell/core'
import { SpeechApiError } from './speech-api-error.ts'

/** An error and what caused it: HTTP clients wrap errors in errors of their own. */
export function* causesOf(error: unknown): Generator {
  for (let cause = error; cause !== undefined && cause !== null; cause = Object(cause).cause) yield cause
}

/** Whether the same request may well succeed later. */
export function mayPass(error: unknown): boolean {
  for (const cause of causesOf(error)) {
    if (cause instanceof SpeechApiError) return cause.passes
    if (cause instanceof TokenError) return cause.kind === 'unavailable' || cause.kind === 'throttled'
  }
  return true
}
