import { TokenError } from '@tokenwell/core'
import { SpeechApiError } from '../../speech-api-error.ts'
import type { Route } from '../history/entry.ts'

export interface Problem {
  readonly sentence: string
  /** A new session would help. */
  readonly sessionEnded: boolean
}

/** What went wrong, in a sentence for people. */
export function describeProblem(error: unknown, route: Route): Problem {
  if (sessionHasEnded(error)) {
    return { sentence: 'Your session has ended. The recording is kept.', sessionEnded: true }
  }
  return { sentence: sentenceFor(error, route), sessionEnded: false }
}

function sessionHasEnded(error: unknown): boolean {
  if (error instanceof TokenError) return error.kind === 'credentials' && error.status === 401
  return error instanceof SpeechApiError && error.code === 'session_ended'
}

function sentenceFor(error: unknown, route: Route): string {
  if (error instanceof SpeechApiError) return error.message
  if (error instanceof TokenError) {
    return error.status === undefined
      ? "This page's server gave no token: it could not be reached. The recording is kept."
      : `This page's server gave no token (status ${error.status}). The recording is kept.`
  }
  const place = route === 'direct' ? 'The speech API' : "This page's server"
  return `${place} could not be reached. The recording is kept.`
}
