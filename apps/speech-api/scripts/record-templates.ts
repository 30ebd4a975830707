// Records the templates of the digits engine: each digit in several voices of espeak-ng and at several speeds.
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { DIGIT_WORDS } from './digit-words.ts'
import { say } from './espeak.ts'
import { wavFile } from './wav-file.ts'

const VOICES = [
  ['en-us', 130],
  ['en-gb', 200],
  ['en-us+f3', 170],
  ['en-gb+f2', 230],
  ['en-us+klatt', 170],
  ['en-gb-x-rp+m3', 150],
] as const
const FOLDER = new URL('../templates/', import.meta.url)
const MARGIN = 0.02 * 16_000

await rm(FOLDER, { recursive: true, force: true })
for (const [voice, speed] of VOICES) {
  const folder = new URL(`${voice.replace('+', '-')}-${speed}/`, FOLDER)
  await mkdir(folder, { recursive: true })
  for (const [digit, word] of DIGIT_WORDS.entries()) {
    await writeFile(new URL(`${digit}.wav`, folder), wavFile(trim(say(word, voice, speed))))
  }
}

function trim(samples: Float32Array): Float32Array {
  const loud = (sample: number) => Math.abs(sample) > 0.003
  const first = samples.findIndex(loud)
  const last = samples.findLastIndex(loud)
  return samples.slice(Math.max(0, first - MARGIN), last + MARGIN)
}
