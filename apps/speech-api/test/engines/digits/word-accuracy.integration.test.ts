import process from 'node:process'
import { describe, expect, test } from 'vitest'
import { DIGIT_WORDS } from '../../../scripts/digit-words.ts'
import { hasEspeak, say } from '../../../scripts/espeak.ts'
import { transcribeSamples, resampled } from '../../support/transcribe-file.ts'
import { createRandom } from '@tokenwell/internal-testing/random'
import { wordErrors } from '../../support/word-errors.ts'

const STRINGS = 10
// The templates use neither these voices nor these speeds.
const SPEAKERS: [kind: string, voice: string, speed: number, sampleRate?: number][] = [
  ['a voice of the templates', 'en-us', 185],
  ['another accent', 'en-us-nyc', 185],
  ['a distant accent', 'en-gb-scotland', 110],
  ['a distant accent', 'en-gb-scotland', 185],
  ['another speaker', 'en-gb+f5', 185],
  ['by telephone (8 kHz)', 'en-029', 160, 8_000],
]

const espeak = hasEspeak()
if (!espeak) process.stdout.write('Skipped the word accuracy test. Install espeak-ng to run it.\n')

describe.skipIf(!espeak)(
  'word accuracy with voices that the templates do not use',
  { timeout: 60_000 },
  () => {
    test.each(SPEAKERS)('%s (%s, %d words a minute)', (kind, voice, speed, sampleRate = 16_000) => {
      const random = createRandom(20_261_121)
      let words = 0
      let errors = 0
      for (let string = 0; string < STRINGS; string++) {
        const digits = Array.from({ length: 4 + Math.floor(random() * 5) }, () => Math.floor(random() * 10))
        const text = digits.map((digit) => DIGIT_WORDS[digit]).join(' ')
        const recognised = transcribeSamples(resampled(say(text, voice, speed), sampleRate), { sampleRate })
        words += digits.length
        errors += wordErrors(digits.map(String), recognised.split(' ').filter(Boolean))
      }
      const accuracy = 1 - errors / words
      const percent = `${(accuracy * 100).toFixed(1)} %`.padStart(8)
      process.stdout.write(
        `word accuracy ${percent} of ${words} words: ${kind}, ${voice}, ${speed} words a minute\n`,
      )
      expect(accuracy).toBeGreaterThanOrEqual(0.9)
    })
  },
)
