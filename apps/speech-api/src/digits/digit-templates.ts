import { readdirSync, readFileSync } from 'node:fs'
import { join } from '../wav/join.ts'
import { createWavReader } from '../wav/wav-reader.ts'
import { type Bandwidth, ratesFor } from './bandwidth.ts'
import { type Cepstrum, cepstrumOf } from './cepstrum.ts'
import { cepstralMean, DIMENSIONS, featureFrames } from './feature-frames.ts'
import { featureWeights, type SpokenWord } from './feature-weights.ts'

/** What the recogniser compares with: the frames of all recordings one after another, already weighted. */
export interface DigitTemplates {
  readonly frames: Float32Array
  /** Where each recording begins, in frames; one more than there are recordings. */
  readonly starts: readonly number[]
  readonly digits: readonly number[]
  readonly weights: Float32Array
  /** The cepstral mean over all voices. */
  readonly mean: Float32Array
}

const RECORDINGS = new URL('../../templates/', import.meta.url)
const SILENCE = -30 // dB below the level of the speech

/** Reads the recordings that ship with the recogniser, a folder for each voice and in it a file for each digit. */
export function loadDigitTemplates(bandwidth: Bandwidth): DigitTemplates {
  const read = readdirSync(RECORDINGS).map((voice) => readVoice(voice, bandwidth))
  const words = read.flatMap((voice) => voice.words)
  const mean = (read[0] as Voice).mean.map(
    (_, index) => read.reduce((sum, voice) => sum + (voice.mean[index] as number), 0) / read.length,
  )
  const weights = featureWeights(words)
  const frames = Float32Array.from(words.flatMap((word) => [...word.frames])).map(
    (value, position) => value * (weights[position % DIMENSIONS] as number),
  )
  const starts = [0]
  for (const word of words) starts.push((starts.at(-1) as number) + word.frames.length / DIMENSIONS)
  return { frames, starts, digits: words.map((word) => word.digit), weights, mean }
}

interface Voice {
  readonly words: SpokenWord[]
  readonly mean: Float32Array
}

function readVoice(voice: string, bandwidth: Bandwidth): Voice {
  const cepstra = Array.from({ length: 10 }, (_, digit) => {
    const reader = createWavReader(() => ratesFor(bandwidth))
    const file = readFileSync(new URL(`${voice}/${digit}.wav`, RECORDINGS))
    return cepstrumOf(join([reader.push(file), reader.end()]))
  })
  const mean = cepstralMean(cepstra, SILENCE)
  return {
    words: cepstra.map((cepstrum, digit) => ({ digit, voice, frames: spokenPart(cepstrum, mean) })),
    mean,
  }
}

function spokenPart(cepstrum: Cepstrum, mean: Float32Array): Float32Array {
  const first = cepstrum.energy.findIndex((energy) => energy > SILENCE)
  const last = cepstrum.energy.findLastIndex((energy) => energy > SILENCE)
  return featureFrames(cepstrum, mean).slice(Math.max(0, first - 1) * DIMENSIONS, (last + 2) * DIMENSIONS)
}
