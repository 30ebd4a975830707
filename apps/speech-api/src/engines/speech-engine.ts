import type { WavReader } from '../wav/wav-reader.ts'

export interface SpeechSegment {
  /** Seconds from the start of the recording. */
  readonly start: number
  readonly end: number
  readonly text: string
  /** From 0 to 1. Missing if the engine does not report one. */
  readonly confidence?: number | undefined
}

export interface Transcript {
  readonly durationSeconds: number
  readonly segments: readonly SpeechSegment[]
  /** What the engine listened for. Missing if the engine transcribes any speech. */
  readonly grammar?: ExpectedSpeech['grammar'] | undefined
  /** Whether part of the recording sounds unlike what was expected. Missing if the engine does not report it. */
  readonly uncertain?: boolean | undefined
  /** What may be wrong with the recording or the transcript. */
  readonly warnings?: readonly TranscriptWarning[] | undefined
}

export interface TranscriptWarning {
  readonly code: 'truncated_wav' | 'silence' | 'nothing_recognised' | 'text_not_spoken'
  /** One sentence for the client. */
  readonly message: string
}

export const grammarNames = ['digits', 'numbers', 'dates', 'codes'] as const
export type GrammarName = (typeof grammarNames)[number]

/** What a recording contains, as far as the client knows. */
export type ExpectedSpeech =
  | { readonly grammar: GrammarName }
  /** One of these sentences, or several with pauses between them. */
  | { readonly grammar: 'phrases'; readonly phrases: readonly string[] }
  /** This text, of which each word gets its time. */
  | { readonly grammar: 'text'; readonly text: string }

export interface TranscribeOptions {
  readonly signal: AbortSignal
  /** @default what the engine recognises without it */
  readonly expected?: ExpectedSpeech | undefined
  /** Called with 0 when the engine starts, then whenever it has processed more, if the engine reports that. */
  readonly onProgress?: ((processedSeconds: number) => void) | undefined
}

/** Recognises speech in a recording. */
export interface SpeechEngine {
  /** Short name for logs and `/healthz`. */
  readonly name: string
  /** Maximum number of recordings that the engine accepts at the same time.
   * @default 32
   */
  readonly capacity?: number | undefined
  /** Whether `transcribe` would throw `EngineBusyError` now. Checked before an upload is read. */
  readonly busy?: boolean | undefined
  /**
   * Transcribes a WAV file as it arrives.
   *
   * @throws {AudioError} if the recording cannot be read
   * @throws {ExpectedSpeechError} if the engine cannot recognise what is expected; the recording is then not read
   * @throws {EngineBusyError} if the engine already has as many recordings as it accepts
   * @throws {EngineError} if the engine fails and the recording is not the cause
   */
  transcribe(audio: AsyncIterable<Uint8Array>, options: TranscribeOptions): Promise<Transcript>
  close(): Promise<void>
}

export type ExpectedSpeechErrorCode = 'unknown_words' | 'grammar_not_supported'

/** The engine cannot recognise what the client expects. The message is one sentence for the client. */
export class ExpectedSpeechError extends Error {
  override readonly name = 'ExpectedSpeechError'
  readonly code: ExpectedSpeechErrorCode

  constructor(code: ExpectedSpeechErrorCode, message: string) {
    super(message)
    this.code = code
  }
}

/** The engine accepts no more recordings at the moment. */
export class EngineBusyError extends Error {
  override readonly name = 'EngineBusyError'
  readonly retryAfterSeconds: number

  constructor(message: string, retryAfterSeconds = 1) {
    super(message)
    this.retryAfterSeconds = retryAfterSeconds
  }
}

export type EngineErrorCode = 'engine_failed' | 'engine_timeout' | 'engine_closed'

/** The engine failed. The message is one sentence for the client. */
export class EngineError extends Error {
  override readonly name = 'EngineError'
  readonly code: EngineErrorCode
  /** The end of the program's standard error, for the log only. */
  readonly stderrTail: string | undefined

  constructor(code: EngineErrorCode, message: string, options: ErrorOptions & { stderrTail?: string } = {}) {
    super(message, options)
    this.code = code
    this.stderrTail = options.stderrTail
  }
}

/** What is known about a recording after it has been read. */
export type RecordingFacts = Pick<WavReader, 'durationSeconds' | 'missingSeconds' | 'isSilent'>

/** Creates the transcript of a recording, with warnings about a truncated, silent or unrecognised one. */
export function createTranscript(
  { durationSeconds, missingSeconds, isSilent }: RecordingFacts,
  segments: readonly SpeechSegment[],
  more: Pick<Transcript, 'grammar' | 'uncertain' | 'warnings'> = {},
): Transcript {
  const warnings: TranscriptWarning[] = []
  if (missingSeconds > 0) {
    const seconds = `${durationSeconds.toFixed(1)} s of ${(durationSeconds + missingSeconds).toFixed(1)} s`
    const message = `The WAV file is truncated: it contains ${seconds}.`
    warnings.push({ code: 'truncated_wav', message })
  }
  if (isSilent) warnings.push({ code: 'silence', message: 'The recording is silent.' })
  else if (segments.length === 0) {
    const message = 'The recording contains sound, but no words were recognised.'
    warnings.push({ code: 'nothing_recognised', message })
  }
  warnings.push(...(more.warnings ?? []))
  return { ...more, durationSeconds: Math.round(durationSeconds * 1_000) / 1_000, segments, warnings }
}
