export interface SpeechSegment {
  /** Seconds from the beginning of the recording. */
  readonly start: number
  readonly end: number
  readonly text: string
  /** From 0 to 1; missing where the engine does not tell. */
  readonly confidence?: number | undefined
}

export interface Transcript {
  readonly durationSeconds: number
  readonly segments: readonly SpeechSegment[]
}

export interface EngineOptions {
  readonly signal: AbortSignal
  /** Called when the engine begins, and whenever it has heard more; engines that cannot tell call it once, with 0. */
  readonly onProgress?: ((heardSeconds: number) => void) | undefined
}

/** Something that hears words in a recording. */
export interface SpeechEngine {
  /** Short, for logs and `/healthz`. */
  readonly name: string
  /** Whether it would take on no more for the moment; asked before an upload is read. */
  readonly busy?: boolean | undefined
  /**
   * Reads a WAV file as it arrives and says what is spoken in it.
   *
   * @throws {AudioError} if the bytes are no recording it can read
   * @throws {EngineBusyError} if it already has as much to do as it takes on
   * @throws {EngineError} if it fails, through no fault of the recording
   */
  transcribe(audio: AsyncIterable<Uint8Array>, options: EngineOptions): Promise<Transcript>
  close(): Promise<void>
}

/** The engine takes on no more work for the moment. */
export class EngineBusyError extends Error {
  override readonly name = 'EngineBusyError'
  /** When it is worth asking again. */
  readonly retryAfterSeconds: number

  constructor(message: string, retryAfterSeconds = 1) {
    super(message)
    this.retryAfterSeconds = retryAfterSeconds
  }
}

export type EngineErrorCode = 'engine_failed' | 'engine_timeout' | 'engine_closed'

/** The engine failed, with a sentence that clients may read. */
export class EngineError extends Error {
  override readonly name = 'EngineError'
  readonly code: EngineErrorCode
  /** The last that the engine said of it: for the log only. */
  readonly lastWords: string | undefined

  constructor(code: EngineErrorCode, message: string, options: ErrorOptions & { lastWords?: string } = {}) {
    super(message, options)
    this.code = code
    this.lastWords = options.lastWords
  }
}
