import { readFileSync } from 'node:fs'
import { joinSamples } from '../../../wav/resampler.ts'
import { createWavReader } from '../../../wav/wav-reader.ts'
import {
  type Bandwidth,
  ratesFor,
  type Cepstrum,
  cepstrumOf,
  cepstralMean,
  DIMENSIONS,
  featureFrames,
} from '../features/feature-frames.ts'
import { featureWeights, type SpokenWord } from '../features/feature-weights.ts'

/** The recordings that speech is compared with. */
export interface DigitTemplates {
  /** The weighted frames of all recordings, one after another. */
  readonly frames: Float32Array
  /** The first frame of each recording, and the total number of frames at the end. */
  readonly starts: readonly number[]
  readonly digits: readonly number[]
  readonly weights: Float32Array
  /** The cepstral mean over all voices. */
  readonly mean: Float32Array
}

const RECORDINGS = new URL('../../../../templates.wavs', import.meta.url)
const SILENCE = -30 // dB below the level of the speech

/** Reads `templates.wavs`: for each voice, the ten digits, one WAV file after another. */
export function loadDigitTemplates(bandwidth: Bandwidth): DigitTemplates {
  const files = wavFilesIn(readFileSync(RECORDINGS))
  const read = Array.from({ length: files.length / 10 }, (_, voice) =>
    readVoice(voice, files.slice(voice * 10, voice * 10 + 10), bandwidth),
  )
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

/** The length of each file stands in its header. */
function wavFilesIn(recordings: Buffer): Buffer[] {
  const files: Buffer[] = []
  for (let start = 0, end = 0; start < recordings.length; start = end) {
    end = start + 8 + recordings.readUInt32LE(start + 4)
    files.push(recordings.subarray(start, end))
  }
  return files
}

function readVoice(voice: number, files: readonly Buffer[], bandwidth: Bandwidth): Voice {
  const cepstra = files.map((file) => {
    const reader = createWavReader(() => ratesFor(bandwidth))
    return cepstrumOf(joinSamples([reader.push(file), reader.end()]))
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
