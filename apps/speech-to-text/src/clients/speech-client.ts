import type { Transcript } from '../speech/speech-api-response.ts'
import type { TranscribeOptions } from '../speech/transcribe-recording.ts'

/** The speech API as the command line uses it, independent of the HTTP client. */
export interface SpeechClient {
  /**
   * Transcribes a WAV recording. A `Blob` from `fs.openAsBlob` is read from the disk as it is sent, and can be sent
   * again after its token was rejected.
   */
  transcribe(recording: Blob, options?: TranscribeOptions): Promise<Transcript>
  close(): Promise<void>
}
