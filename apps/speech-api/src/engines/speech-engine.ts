/** A word that was recognised, or several if the engine does not report when each begins. */
export interface SpeechSegment {
  /** Seconds from the start of the recording. */
  readonly start: number
  readonly end: number
  readonly text: string
  /** The recogniser's own score of the word, from 0 to 1. It does not distinguish right words from wrong ones. */
  readonly score?: number | undefined
}

export interface Transcript {
  readonly durationSeconds: number
  readonly segments: readonly SpeechSegment[]
  /** What may be wrong with the recording or the transcript. */
  readonly warnings: readonly TranscriptWarning[]
}

export interface TranscriptWarning {
  readonly code: 'truncated_wav' | 'silence' | 'nothing_recognised' | 'text_not_spoken'
  /** One sentence for the client. */
  readonly message: string
}

/** What the caller says that is spoken in the recording. */
export type ExpectedSpeech =
  | { readonly expected: 'digits' | 'numbers' | 'codes' | 'speech' }
  /** One of these sentences, or several with pauses between them. */
  | { readonly expected: 'phrases'; readonly phrases: readonly string[] }
  /** This text, of which each word gets its time. */
  | { readonly expected: 'text'; readonly text: string }

export interface EngineOptions {
  readonly expected: ExpectedSpeech
  readonly signal: AbortSignal
  /** Called with the part that has been processed, from 0 to 1. */
  readonly onProgress: (progress: number) => void
}

/** Recognises speech in a WAV file. */
export interface SpeechEngine {
  /** A short name for `/healthz`. */
  readonly name: string
  /** What it can recognise. */
  readonly recognises: readonly ExpectedSpeech['expected'][]
  /** @throws {ApiError} if the recording or what is expected is invalid, or the engine fails */
  transcribe(path: string, options: EngineOptions): Promise<Transcript>
  close(): Promise<void>
}

/** What is known about a recording after it has been read. */
export interface RecordingFacts {
  readonly durationSeconds: number
  readonly missingSeconds: number
  readonly isSilent: boolean
}

/** Creates the transcript of a recording, with warnings about a truncated, silent or unrecognised one. */
export function createTranscript(
  { durationSeconds, missingSeconds, isSilent }: RecordingFacts,
  segments: readonly SpeechSegment[],
  more: readonly TranscriptWarning[] = [],
): Transcript {
  const warnings: TranscriptWarning[] = []
  if (missingSeconds > 0) {
    const seconds = `${durationSeconds.toFixed(1)} s of ${(durationSeconds + missingSeconds).toFixed(1)} s`
    warnings.push({ code: 'truncated_wav', message: `The WAV file is truncated: it contains ${seconds}.` })
  }
  if (isSilent) warnings.push({ code: 'silence', message: 'The recording is silent.' })
  else if (segments.length === 0) {
    const message = 'The recording contains sound, but no words were recognised.'
    warnings.push({ code: 'nothing_recognised', message })
  }
  return {
    durationSeconds: Math.round(durationSeconds * 1_000) / 1_000,
    segments,
    warnings: [...warnings, ...more],
  }
}
