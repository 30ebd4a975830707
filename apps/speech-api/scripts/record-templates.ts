import { writeFile } from 'node:fs/promises'
import { DIGIT_WORDS, say, wavFile } from './espeak.ts'

// Records the templates of the digits engine: each digit in several voices of espeak-ng and at several speeds.

const VOICES = [
  ['en-gb', 200],
  ['en-gb+f2', 230],
  ['en-gb-x-rp+m3', 150],
  ['en-us', 130],
  ['en-us+f3', 170],
  ['en-us+klatt', 170],
] as const
const FILE = new URL('../templates.wavs', import.meta.url)
const MARGIN = 0.02 * 16_000

const recordings = VOICES.flatMap(([voice, speed]) =>
  DIGIT_WORDS.map((word) => wavFile(trim(say(word, voice, speed)))),
)
await writeFile(FILE, Buffer.concat(recordings))

function trim(samples: Float32Array): Float32Array {
  const loud = (sample: number) => Math.abs(sample) > 0.003
  const first = samples.findIndex(loud)
  const last = samples.findLastIndex(loud)
  return samples.slice(Math.max(0, first - MARGIN), last + MARGIN)
}
