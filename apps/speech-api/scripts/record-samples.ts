import { mkdir, writeFile } from 'node:fs/promises'
import { DIGIT_WORDS, say, wavFile } from './espeak.ts'

// Records the samples of the example application, with voices and speeds that the templates do not use.

const SAMPLES = [
  { file: 'order-number.wav', digits: [4, 2, 7, 1, 9, 0], voice: 'en-us-nyc', speed: 145 },
  { file: 'parcel-code.wav', digits: [8, 3, 0, 5, 6, 2, 1, 7], voice: 'en-gb+f1', speed: 155 },
  { file: 'meter-reading.wav', digits: [1, 9, 5, 3, 8], voice: 'en-gb-x-rp+m5', speed: 140 },
]
const FOLDER = new URL('../../speech-to-text/samples/', import.meta.url)

await mkdir(FOLDER, { recursive: true })
for (const { file, digits, voice, speed } of SAMPLES) {
  const words = digits.map((digit) => DIGIT_WORDS[digit]).join(' ')
  await writeFile(new URL(file, FOLDER), wavFile(say(words, voice, speed)))
}
const expected = Object.fromEntries(SAMPLES.map(({ file, digits }) => [file, digits.join(' ')]))
await writeFile(new URL('expected.json', FOLDER), `${JSON.stringify(expected, null, 2)}\n`)
