import { isTokenError } from '@tokenwell/core'
import { SpeechError } from '../fetch/speech.ts'
import { SettingsError } from '../platform/find-platform.ts'

/** Whether the recording is the cause, and not a service or the credentials. */
export function isRecordingInvalid(error: unknown): boolean {
  return error instanceof SpeechError && [400, 413, 415, 422].includes(error.status)
}

/** Whether the same request may succeed later. */
export function isRetryable(error: unknown): boolean {
  if (isTokenError(error)) return error.kind === 'unavailable' || error.kind === 'throttled'
  if (error instanceof SpeechError) return error.status === 429 || error.status >= 500
  return isConnectionError(error)
}

/** What `fetch` throws without a response: a `TypeError` with the cause, or the reason of the signal. */
function isConnectionError(error: unknown): error is Error {
  const { name, cause } = Object(error) as Error
  return name === 'TimeoutError' || (name === 'TypeError' && cause !== undefined)
}

/** Describes an error in one or two sentences; undefined if it is unexpected. */
export function describeError(error: unknown, speechUrl = ''): string | undefined {
  if (isTokenError(error) || error instanceof SettingsError) return error.message
  if (isRecordingInvalid(error)) return (error as Error).message
  if (error instanceof SpeechError)
    return `The speech API at ${speechUrl} returned an error (status ${error.status}): ${error.message}`
  if (!isConnectionError(error)) return undefined
  const { code, name } = Object(error.cause ?? error) as { code?: string; name: string }
  return `The speech API at ${speechUrl} could not be reached (${code ?? name}).`
}
