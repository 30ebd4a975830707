import type { TokenLife } from '../../token-life.ts'
import type { TranscribeOptions } from '../../transcribe-through.ts'
import type { Transcript } from '../../transcript.ts'

export interface TranscriberOptions extends TranscribeOptions {
  /** Called with the share of the recording that has been sent, from 0 to 1. */
  readonly onSent: (share: number) => void
  readonly signal: AbortSignal
}

/** One of the two ways from this page to the speech API. */
export interface Transcriber {
  /** @throws {SpeechApiError | TokenError | Error} */
  transcribe(recording: Blob, options: TranscriberOptions): Promise<Transcript>
  /** Calls `listener` at once and whenever something happens to the token; returns what ends that. */
  followToken(listener: (life: TokenLife) => void): () => void
}
