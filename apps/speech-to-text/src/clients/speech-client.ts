import type { TokenEventListener } from '@tokenwell/core'
import type { TranscribeOptions } from '../transcribe-through.ts'
import type { Transcript } from '../transcript.ts'

/** Where the platform is, and who asks. */
export interface Connection {
  readonly authUrl: string
  readonly speechUrl: string
  readonly clientId: string
  readonly clientSecret: string
  /** Is told what happens to the token. */
  readonly onEvent?: TokenEventListener | undefined
}

/** The speech API as the command line uses it, whichever HTTP client is underneath. */
export interface SpeechClient {
  /**
   * Sends a WAV recording. A `Blob` out of `fs.openAsBlob` is read from the disk as it is sent, and can be
   * sent again when its token was refused.
   */
  transcribe(recording: Blob, options?: TranscribeOptions): Promise<Transcript>
  close(): Promise<void>
}
