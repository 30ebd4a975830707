import { join } from '../wav/join.ts'
import { cepstrumOf, HOP, SAMPLE_RATE } from './cepstrum.ts'
import { decodeWords } from './decode-words.ts'
import type { DigitTemplates } from './digit-templates.ts'
import { cepstralMean, DIMENSIONS, featureFrames } from './feature-frames.ts'
import { judgeWords } from './judge-words.ts'
import { silenceLevel } from './silence-level.ts'
import type { SpeechSegment } from '../speech-engine.ts'

export interface DigitRecogniser {
  /** Takes the next samples, at 16 kHz, and returns the digits they complete. */
  push(samples: Float32Array): SpeechSegment[]
  end(): SpeechSegment[]
}

const LONGEST_STRETCH = 15 * SAMPLE_RATE
const PAUSE = 0.2 * SAMPLE_RATE
const SILENT = 3e-4 // below -70 dB of full scale nothing is said

/** Recognises spoken digits in a stream, a stretch of at most 15 s at a time, cut in the quietest place. */
export function createDigitRecogniser(templates: DigitTemplates): DigitRecogniser {
  let held: Float32Array[] = []
  let heldLength = 0
  let heldFrom = 0
  const tooLong = () => heldLength > LONGEST_STRETCH

  const recogniseUpTo = (place: (samples: Float32Array) => number): SpeechSegment[] => {
    const samples = join(held)
    const length = place(samples)
    const segments = recognise(samples.subarray(0, length), templates, heldFrom / SAMPLE_RATE)
    held = [samples.slice(length)]
    heldLength -= length
    heldFrom += length
    return segments
  }
  return {
    push(samples) {
      held.push(samples)
      heldLength += samples.length
      const segments: SpeechSegment[] = []
      while (tooLong()) segments.push(...recogniseUpTo(quietestPlace))
      return segments
    },
    end: () => recogniseUpTo((samples) => samples.length),
  }
}

function recognise(samples: Float32Array, templates: DigitTemplates, offset: number): SpeechSegment[] {
  if (samples.every((sample) => Math.abs(sample) < SILENT)) return []
  const cepstrum = cepstrumOf(samples)
  const silenceBelow = silenceLevel(cepstrum)
  const frames = featureFrames(cepstrum, cepstralMean([cepstrum], silenceBelow, templates.mean)).map(
    (value, position) => value * (templates.weights[position % DIMENSIONS] as number),
  )
  const words = decodeWords({ frames, energy: cepstrum.energy, silenceBelow }, templates)
  const seconds = (frame: number) => Math.round((offset + (frame * HOP) / SAMPLE_RATE) * 1_000) / 1_000
  return judgeWords(words, frames, templates).map(({ digit, from, to, confidence }) => ({
    start: seconds(from),
    end: seconds(to),
    text: String(digit),
    confidence: Math.round(confidence * 1_000) / 1_000,
  }))
}

/** The middle of the quietest fifth of a second in the second half of a stretch. */
function quietestPlace(samples: Float32Array): number {
  let place = LONGEST_STRETCH
  let least = Infinity
  for (let start = LONGEST_STRETCH / 2; start + PAUSE <= LONGEST_STRETCH; start += HOP) {
    let power = 0
    for (let index = start; index < start + PAUSE; index++) power += (samples[index] as number) ** 2
    if (power < least) {
      least = power
      place = start + PAUSE / 2
    }
  }
  return place
}
