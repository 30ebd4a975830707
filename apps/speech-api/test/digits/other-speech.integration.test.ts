import process from 'node:process'
import { describe, expect, test } from 'vitest'
import { hasEspeak, say } from '../../scripts/espeak.ts'
import { hear } from '../hear.ts'

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
if (!espeak) process.stdout.write('Skipped other speech: install espeak-ng to have it measured.\n')

describe.skipIf(!espeak)('speech without digits', { timeout: 60_000 }, () => {
  test.each(['en-us-nyc', 'en-gb+f5', 'en-gb-scotland'])('is mostly not taken for digits (%s)', (voice) => {
    const words = SENTENCES.join(' ').split(' ').length
    const heard = SENTENCES.flatMap((sentence) =>
      hear(say(sentence, voice, 170))
        .split(' ')
        .filter(Boolean),
    )
    process.stdout.write(`${heard.length} digits heard in ${words} other words: ${voice}\n`)
    expect(heard.length / words).toBeLessThan(0.15)
  })
})
