import type { TranscribeOptions } from '../../speech/transcribe-recording.ts'
import type { Transcript } from '../../speech/transcript.ts'
import type { TokenStatus } from '../../tokens/token-status.ts'

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
  /** Calls `listener` now and after each change of the token; returns a function that removes the listener. */
  followToken(listener: (status: TokenStatus) => void): () => void
}
