import { joinSamples } from '../../../wav/resampler.ts'
import { areSilent } from '../../../wav/wav-reader.ts'
import type { SpeechSegment } from '../../speech-engine.ts'
import {
  cepstrumOf,
  HOP,
  SAMPLE_RATE,
  silenceLevel,
  cepstralMean,
  DIMENSIONS,
  featureFrames,
  COEFFICIENTS,
} from '../features/feature-frames.ts'
import { decodeWords, type DecodedWord } from './decode-words.ts'
import type { DigitTemplates } from './digit-templates.ts'

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

export interface RecognisedDigit {
  readonly digit: number
  readonly from: number
  readonly to: number
  /** From 0.5 to 1. */
  readonly confidence: number
}

const MIN_CONFIDENCE = 0.5
const NEIGHBOURS = 2
const EVEN_ODDS = 1.05 // the misfit at which a word is as likely as not to be a digit
const STEEPNESS = 6
const MAX_MISFIT = 2 // of a sound that cannot be a digit
const MAX_LENGTH = 2.5 // times the length of the template
const MIN_VARIATION = 0.25
const MAX_WEIGHT = 50 // of a neighbour, in frames

/**
 * Keeps the words that sound like digits. The decoder explains every sound as digits. A sound that is not a digit fits
 * the templates much worse than their frames in any order would, whereas digits in an unfamiliar voice fit both badly.
 * One word gives little evidence, so its neighbours count too: digits come in sequences.
 */
function selectDigits(
  words: readonly DecodedWord[],
  frames: Float32Array,
  { starts, digits }: DigitTemplates,
): RecognisedDigit[] {
  const scored = words.map(({ template, from, to, distance, nearest }) => {
    const length = (starts[template + 1] as number) - (starts[template] as number)
    const possible = to - from < MAX_LENGTH * length && variation(frames, from, to) > MIN_VARIATION
    return {
      digit: digits[template] as number,
      from,
      to,
      possible,
      misfit: possible ? distance - nearest : MAX_MISFIT,
    }
  })
  return scored
    .map(({ digit, from, to, possible }, position) => {
      const nearby = scored.slice(Math.max(0, position - NEIGHBOURS), position + NEIGHBOURS + 1)
      const confidence = 1 / (1 + Math.exp(STEEPNESS * (meanMisfit(nearby) - EVEN_ODDS)))
      return { digit, from, to, confidence: possible ? confidence : 0 }
    })
    .filter(({ confidence }) => confidence >= MIN_CONFIDENCE)
}

function meanMisfit(words: readonly { from: number; to: number; misfit: number }[]): number {
  let sum = 0
  let frames = 0
  for (const { from, to, misfit } of words) {
    const weight = Math.min(MAX_WEIGHT, to - from)
    sum += weight * misfit
    frames += weight
  }
  return sum / frames
}

/** How much the sound changes within a word: speech changes, tones and bursts of noise hardly do. */
function variation(frames: Float32Array, from: number, to: number): number {
  let sum = 0
  for (let index = 1; index < COEFFICIENTS; index++) {
    let mean = 0
    let square = 0
    for (let frame = from; frame < to; frame++) {
      const value = frames[frame * DIMENSIONS + index] as number
      mean += value / (to - from)
      square += (value * value) / (to - from)
    }
    sum += square - mean * mean
  }
  return sum
}
