import type { AudioErrorCode } from '../../wav/wav-format.ts'
import { createWavReader } from '../../wav/wav-reader.ts'
import { createTranscript, type SpeechSegment, type Transcript } from '../speech-engine.ts'
import { type Bandwidth, bandwidthOf, ratesFor } from './features/feature-frames.ts'
import { createDigitRecogniser, type DigitRecogniser } from './recognition/digit-recogniser.ts'
import type { DigitTemplates } from './recognition/digit-templates.ts'

export interface DigitTranscription {
  /** Duration of the samples pushed so far. */
  readonly processedSeconds: number
  /** Takes the next bytes of a WAV file. */
  push(bytes: Uint8Array): void
  end(): Transcript
}

/** Transcribes one WAV file as it arrives; throws `AudioError` as soon as it turns out to be unreadable. */
export function createDigitTranscription(
  templatesFor: (bandwidth: Bandwidth) => DigitTemplates,
): DigitTranscription {
  const reader = createWavReader((rate) => ratesFor(bandwidthOf(rate)))
  const segments: SpeechSegment[] = []
  let recogniser: DigitRecogniser | undefined
  return {
    get processedSeconds() {
      return reader.durationSeconds
    },
    push(bytes) {
      const samples = reader.push(bytes)
      if (reader.sampleRate === undefined) return
      recogniser ??= createDigitRecogniser(templatesFor(bandwidthOf(reader.sampleRate)))
      segments.push(...recogniser.push(samples))
    },
    end() {
      const rest = reader.end()
      if (recogniser) segments.push(...recogniser.push(rest), ...recogniser.end())
      return createTranscript(reader, segments)
    },
  }
}

/** Sent to the thread. It responds to each message of a job before the next is sent, but not to `remove`. */
export type ThreadRequest =
  | { readonly kind: 'audio'; readonly job: number; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: 'end'; readonly job: number }
  | { readonly kind: 'remove'; readonly job: number }

export type ThreadResponse =
  | { readonly kind: 'processed'; readonly job: number; readonly processedSeconds: number }
  | { readonly kind: 'transcribed'; readonly job: number; readonly transcript: Transcript }
  | {
      readonly kind: 'failed'
      readonly job: number
      /** Missing if the recording is not the cause. */
      readonly code?: AudioErrorCode | undefined
      readonly message: string
    }

/** Sent by a thread that has loaded templates. */
export interface LoadedTemplates {
  readonly kind: 'loaded'
  readonly bandwidth: Bandwidth
  readonly templates: DigitTemplates
}

export type SuccessfulResponse = Exclude<ThreadResponse, { kind: 'failed' }>
