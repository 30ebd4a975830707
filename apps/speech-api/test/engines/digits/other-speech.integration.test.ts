import process from 'node:process'
import { describe, expect, test } from 'vitest'
import { hasEspeak, say } from '../../../scripts/espeak.ts'
import { transcribeSamples } from '../../support/transcribe-file.ts'

const SENTENCES = [
  'please send the invoice to the accounting department before friday',
  'the quick brown fox jumps over the lazy dog',
  'good morning everybody and welcome to our meeting',
  'my brother bought a green bicycle yesterday',
  'turn left at the church and follow the river',
  'we hope that you will enjoy your stay with us',
  'the weather is cloudy with a chance of rain',
  'banana apple orange lemon cherry',
]

const espeak = hasEspeak()
if (!espeak) process.stdout.write('Skipped the test of other speech. Install espeak-ng to run it.\n')

describe.skipIf(!espeak)('speech without digits', { timeout: 60_000 }, () => {
  test.each(['en-us-nyc', 'en-gb+f5', 'en-gb-scotland'])(
    'is mostly not recognised as digits (%s)',
    (voice) => {
      const words = SENTENCES.join(' ').split(' ').length
      const recognised = SENTENCES.flatMap((sentence) =>
        transcribeSamples(say(sentence, voice, 170))
          .split(' ')
          .filter(Boolean),
      )
      process.stdout.write(`${recognised.length} digits recognised in ${words} other words: ${voice}\n`)
      expect(recognised.length / words).toBeLessThan(0.15)
    },
  )
})
