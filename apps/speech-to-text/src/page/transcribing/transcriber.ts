import { TokenError } from '@tokenwell/core'
import type { TranscribeOptions } from '../../speech/transcribe-recording.ts'
import { type Transcript, SpeechApiError } from '../../speech/speech-api-response.ts'
import type { TokenStatus, Trial } from '../../tokens/token-status.ts'

/** How recordings reach the speech API: from the page itself, or through its server. */
export type Route = 'direct' | 'server'

export interface TranscriberOptions extends TranscribeOptions {
  /** Called with the uploaded part of the recording, from 0 to 1. */
  readonly onUpload: (fraction: number) => void
  readonly signal: AbortSignal
}

/** Transcribes recordings by one route. */
export interface Transcriber {
  /** @throws {SpeechApiError | TokenError | Error} */
  transcribe(recording: Blob, options: TranscriberOptions): Promise<Transcript>
  /**
   * Calls `listener` now and after each change of the token, with undefined while the page's server does not respond;
   * returns a function that removes the listener.
   */
  followToken(listener: (status: TokenStatus | undefined) => void): () => void
  /** Does something to the token, to show what follows. */
  try?(trial: Trial): Promise<void>
}

export interface ErrorDescription {
  readonly message: string
  /** A new session would help. */
  readonly sessionExpired: boolean
}

/** Describes an error for the user. */
export function describeError(error: unknown, route: Route): ErrorDescription {
  if (hasSessionExpired(error)) {
    return { message: 'Your session has expired. The recording was kept.', sessionExpired: true }
  }
  return { message: messageFor(error, route), sessionExpired: false }
}

function hasSessionExpired(error: unknown): boolean {
  if (error instanceof TokenError) return error.kind === 'credentials' && error.status === 401
  return error instanceof SpeechApiError && error.code === 'session_expired'
}

function messageFor(error: unknown, route: Route): string {
  if (error instanceof SpeechApiError) return error.message
  if (error instanceof TokenError) return `${tokenProblem(error.status)} The recording was kept.`
  const target = route === 'direct' ? 'The speech API' : 'This page’s server'
  return `${target} could not be reached. The recording was kept.`
}

/** @param status of this page's server, which responds with 502 if its credentials are the problem */
function tokenProblem(status: number | undefined): string {
  if (status === undefined) return 'This page’s server could not be reached to get a token.'
  if (status === 502) return 'The token service rejected the client ID or secret of this page’s server.'
  if (status === 503) return 'The token service is down or busy.'
  return `This page’s server returned no token (status ${status}).`
}
