import type { WavReader } from '../wav/wav-reader.ts'
import type { SpeechSegment, Transcript, TranscriptWarning } from './speech-engine.ts'

/** What is known about a recording after it has been read. */
export type RecordingFacts = Pick<WavReader, 'durationSeconds' | 'missingSeconds' | 'isSilent'>

/** Creates the transcript of a recording, with warnings about a truncated, silent or unrecognised one. */
export function createTranscript(
  { durationSeconds, missingSeconds, isSilent }: RecordingFacts,
  segments: readonly SpeechSegment[],
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
  return { durationSeconds: Math.round(durationSeconds * 1_000) / 1_000, segments, warnings }
}
