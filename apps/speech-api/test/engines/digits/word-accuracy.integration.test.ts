import process from 'node:process'
import { describe, expect, test } from 'vitest'
import { createRandom } from '@tokenwell/internal-testing/random'
import { createSoakTable, type SoakRow } from '@tokenwell/internal-testing/soak-table'
import { DIGIT_WORDS, hasEspeak, say } from '../../../scripts/espeak.ts'
import { transcribeSamples, resampled } from '../../support/transcribe-file.ts'

/** The word error count: the fewest insertions, deletions and replacements between two sequences of words. */
function wordErrors(spoken: readonly string[], recognised: readonly string[]): number {
  let row = [0, ...recognised.map((_, index) => index + 1)]
  for (const [line, word] of spoken.entries()) {
    const next = [line + 1]
    for (const [index, other] of recognised.entries()) {
      const replaced = (row[index] as number) + (word === other ? 0 : 1)
      next.push(Math.min(replaced, (row[index + 1] as number) + 1, (next[index] as number) + 1))
    }
    row = next
  }
  return row.at(-1) as number
}

type Speaker = [kind: string, voice: string, speed: number, sampleRate?: number]

/** The templates use none of these voices at these speeds. */
const speakers: readonly Speaker[] = [
  ['another accent', 'en-us-nyc', 185],
  ['by telephone (8 kHz)', 'en-029', 160, 8_000],
  ['a distant accent', 'en-gb-scotland', 185],
  ['a voice of the templates', 'en-us', 185],
  ['a distant accent', 'en-gb-scotland', 110],
  ['another speaker', 'en-gb+f5', 185],
]

const otherSpeech = [
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

// `pnpm soak` tries more voices, digits and sentences, and writes down the results.
const table = process.env['TOKENWELL_SOAK'] === '1' ? createSoakTable() : undefined
const [some, strings, sentences] = table ? [speakers, 20, otherSpeech.length] : [speakers.slice(0, 2), 4, 4]

const measure = async (what: string, work: () => SoakRow): Promise<void> => {
  if (table) await table.measure(what, async () => work())
  else process.stdout.write(`${what}: ${work().figures}\n`)
}

/** Checks how many digits, and how many other words, are recognised as digits. */
if (!espeak) process.stdout.write('Skipped the tests of word accuracy. Install espeak-ng to run them.\n')
describe.skipIf(!espeak)('with voices that the templates do not use', () => {
  test.each(some)(
    'recognises nine of ten digits: %s (%s, %d words a minute)',
    (kind, voice, speed, sampleRate = 16_000) =>
      measure(`digits: ${kind}, ${voice}, ${speed} words a minute`, () => {
        const random = createRandom(20_261_121)
        let words = 0
        let errors = 0
        for (let string = 0; string < strings; string++) {
          const digits = Array.from({ length: 4 + Math.floor(random() * 5) }, () => Math.floor(random() * 10))
          const text = digits.map((digit) => DIGIT_WORDS[digit]).join(' ')
          const recognised = transcribeSamples(resampled(say(text, voice, speed), sampleRate), {
            sampleRate,
          })
          words += digits.length
          errors += wordErrors(digits.map(String), recognised.split(' ').filter(Boolean))
        }
        const accuracy = 1 - errors / words
        expect(accuracy).toBeGreaterThanOrEqual(0.9)
        return { calls: words, failures: errors, figures: `word accuracy ${(accuracy * 100).toFixed(1)} %` }
      }),
  )

  test.each([...new Set(some.map(([, voice]) => voice))])('recognises few other words: %s', (voice) =>
    measure(`other words: ${voice}`, () => {
      const said = otherSpeech.slice(0, sentences)
      const words = said.join(' ').split(' ').length
      const recognised = said.flatMap((sentence) =>
        transcribeSamples(say(sentence, voice, 170))
          .split(' ')
          .filter(Boolean),
      )
      expect(recognised.length / words).toBeLessThan(0.15)
      return {
        calls: words,
        failures: recognised.length,
        figures: `${recognised.length} recognised as digits`,
      }
    }),
  )
})

test.each([
  ['', '', 0],
  ['1 2 3', '1 2 3', 0],
  ['1 2 3', '', 3],
  ['', '1 2', 2],
  ['1 2 3', '1 3', 1],
  ['1 2 3', '1 2 2 3', 1],
  ['1 2 3', '1 9 3', 1],
  ['1 2 3 4', '2 3 4 1', 2],
])('counts the changes from "%s" to "%s": %d', (spoken, recognised, errors) => {
  const words = (text: string) => text.split(' ').filter(Boolean)
  expect(wordErrors(words(spoken), words(recognised))).toBe(errors)
})
