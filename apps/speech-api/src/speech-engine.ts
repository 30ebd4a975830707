export interface SpeechSegment {
  /** Seconds from the beginning of the recording. */
  readonly start: number
  readonly end: number
  readonly text: string
  /** From 0 to 1. */
  readonly confidence: number
}

export interface Transcript {
  readonly durationSeconds: number
  readonly segments: readonly SpeechSegment[]
}

/** Something that hears words in a recording. */
export interface SpeechEngine {
  /** Short, for logs and `/healthz`. */
  readonly name: string
  /**
   * Reads a WAV file as it arrives and says what is spoken in it.
   *
   * @throws {AudioError} if the bytes are no recording it can read
   * @throws {EngineBusyError} if it already has as much to do as it takes on
   */
  transcribe(audio: AsyncIterable<Uint8Array>, options: { readonly signal: AbortSignal }): Promise<Transcript>
  close(): Promise<void>
}

/** The engine takes on no more work for the moment. */
export class EngineBusyError extends Error {
  override readonly name = 'EngineBusyError'
}
