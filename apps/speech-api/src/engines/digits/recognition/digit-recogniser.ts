import { joinSamples } from '../../../wav/resampler.ts'
import { areSilent } from '../../../wav/wav-reader.ts'
import { cepstrumOf, HOP, SAMPLE_RATE, silenceLevel } from '../features/cepstrum.ts'
import { decodeWords } from './decode-words.ts'
import type { DigitTemplates } from './digit-templates.ts'
import { cepstralMean, DIMENSIONS, featureFrames } from '../features/feature-frames.ts'
import { selectDigits } from './select-digits.ts'
import type { SpeechSegment } from '../../speech-engine.ts'

export interface DigitRecogniser {
  /** Takes the next samples, at 16 kHz, and returns the digits that they complete. */
  push(samples: Float32Array): SpeechSegment[]
  end(): SpeechSegment[]
}

const MAX_SECTION = 15 * SAMPLE_RATE
const PAUSE = 0.2 * SAMPLE_RATE

/** Recognises spoken digits in a stream, in sections of at most 15 s, which end in the quietest place. */
export function createDigitRecogniser(templates: DigitTemplates): DigitRecogniser {
  let buffered: Float32Array[] = []
  let bufferedLength = 0
  let bufferedFrom = 0
  const isTooLong = () => bufferedLength > MAX_SECTION

  const recogniseUpTo = (findEnd: (samples: Float32Array) => number): SpeechSegment[] => {
    const samples = joinSamples(buffered)
    const length = findEnd(samples)
    const segments = recognise(samples.subarray(0, length), templates, bufferedFrom / SAMPLE_RATE)
    buffered = [samples.slice(length)]
    bufferedLength -= length
    bufferedFrom += length
    return segments
  }
  return {
    push(samples) {
      buffered.push(samples)
      bufferedLength += samples.length
      const segments: SpeechSegment[] = []
      while (isTooLong()) segments.push(...recogniseUpTo(quietestPlace))
      return segments
    },
    end: () => recogniseUpTo((samples) => samples.length),
  }
}

function recognise(samples: Float32Array, templates: DigitTemplates, offset: number): SpeechSegment[] {
  if (areSilent(samples)) return []
  const cepstrum = cepstrumOf(samples)
  const silenceBelow = silenceLevel(cepstrum)
  const frames = featureFrames(cepstrum, cepstralMean([cepstrum], silenceBelow, templates.mean)).map(
    (value, position) => value * (templates.weights[position % DIMENSIONS] as number),
  )
  const words = decodeWords({ frames, energy: cepstrum.energy, silenceBelow }, templates)
  const seconds = (frame: number) => Math.round((offset + (frame * HOP) / SAMPLE_RATE) * 1_000) / 1_000
  return selectDigits(words, frames, templates).map(({ digit, from, to, confidence }) => ({
    start: seconds(from),
    end: seconds(to),
    text: String(digit),
    confidence: Math.round(confidence * 1_000) / 1_000,
  }))
}

/** The middle of the quietest 200 ms in the second half of a section. */
function quietestPlace(samples: Float32Array): number {
  let place = MAX_SECTION
  let least = Infinity
  for (let start = MAX_SECTION / 2; start + PAUSE <= MAX_SECTION; start += HOP) {
    let power = 0
    for (let index = start; index < start + PAUSE; index++) power += (samples[index] as number) ** 2
    if (power < least) {
      least = power
      place = start + PAUSE / 2
    }
  }
  return place
}
