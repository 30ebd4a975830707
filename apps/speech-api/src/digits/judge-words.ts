import { COEFFICIENTS } from './cepstrum.ts'
import type { DecodedWord } from './decode-words.ts'
import type { DigitTemplates } from './digit-templates.ts'
import { DIMENSIONS } from './feature-frames.ts'

export interface HeardDigit {
  readonly digit: number
  readonly from: number
  readonly to: number
  /** From 0 to 1; what is under one half is not reported. */
  readonly confidence: number
}

const NEIGHBOURS = 2
const EVEN_ODDS = 1.05 // the misfit at which a word is as likely no digit at all
const STEEPNESS = 6
const NO_WORD = 2 // the misfit of what cannot be one
const LONGEST = 2.5 // times the length of the template
const LEAST_VARIATION = 0.25
const MOST_FRAMES = 50 // that a neighbour counts for

/**
 * Keeps the words that sound like digits. The decoder explains any sound as digits; what is none fits much worse than
 * frames of all templates would if they came in any order, while the digits of a strange voice fit badly either way.
 * One word says little, so its neighbours count as well: people who say digits say several.
 */
export function judgeWords(
  words: readonly DecodedWord[],
  frames: Float32Array,
  { starts, digits }: DigitTemplates,
): HeardDigit[] {
  const judged = words.map(({ template, from, to, distance, nearest }) => {
    const length = (starts[template + 1] as number) - (starts[template] as number)
    const possible = to - from < LONGEST * length && variation(frames, from, to) > LEAST_VARIATION
    return {
      digit: digits[template] as number,
      from,
      to,
      possible,
      misfit: possible ? distance - nearest : NO_WORD,
    }
  })
  return judged
    .map(({ digit, from, to, possible }, position) => {
      const around = judged.slice(Math.max(0, position - NEIGHBOURS), position + NEIGHBOURS + 1)
      const confidence = 1 / (1 + Math.exp(STEEPNESS * (meanMisfit(around) - EVEN_ODDS)))
      return { digit, from, to, confidence: possible ? confidence : 0 }
    })
    .filter(({ confidence }) => confidence >= 0.5)
}

function meanMisfit(words: readonly { from: number; to: number; misfit: number }[]): number {
  let sum = 0
  let frames = 0
  for (const { from, to, misfit } of words) {
    const weight = Math.min(MOST_FRAMES, to - from)
    sum += weight * misfit
    frames += weight
  }
  return sum / frames
}

/** How much the sound changes within a word: tones and bursts of noise hardly do, speech does. */
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
