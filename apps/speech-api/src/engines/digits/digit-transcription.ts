import { createTranscript } from '../create-transcript.ts'
import type { SpeechSegment, Transcript } from '../speech-engine.ts'
import { createWavReader } from '../../wav/wav-reader.ts'
import { type Bandwidth, bandwidthOf, ratesFor } from './features/bandwidth.ts'
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
