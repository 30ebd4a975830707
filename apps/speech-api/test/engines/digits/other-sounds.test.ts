import { expect, test } from 'vitest'
import { createRandom } from '@tokenwell/internal-testing/random'
import { transcribeSamples, noise, tone } from '../../support/transcribe-file.ts'

const RATE = 16_000
const TUNE = [262, 330, 392, 523, 440, 349, 294]

function play(seconds: number, sound: (second: number, sample: number) => number): Float32Array {
  return Float32Array.from({ length: seconds * RATE }, (_, sample) => sound(sample / RATE, sample))
}

/** Plucked notes with overtones, `voices` at a time. */
function music(noteSeconds: number, voices: number): Float32Array {
  return play(6, (second) => {
    const note = Math.floor(second / noteSeconds)
    const fading = Math.exp(-3 * (second % noteSeconds))
    let sum = 0
    for (let voice = 0; voice < voices; voice++) {
      const hertz = TUNE[(note + 2 * voice) % TUNE.length] as number
      for (let overtone = 1; overtone <= 5; overtone++) {
        sum += Math.sin(2 * Math.PI * hertz * overtone * second) / overtone
      }
    }
    return (0.2 * fading * sum) / voices
  })
}

const random = createRandom(1)
test.each<[string, Float32Array]>([
  ['silence', new Float32Array(3 * RATE)],
  ['a moment of silence', new Float32Array(1)],
  ['a very faint hiss', noise(1e-5, 3 * RATE, random)],
  ['a faint hiss', noise(0.001, 3 * RATE, random)],
  ['a loud hiss', noise(0.2, 3 * RATE, random)],
  ['bursts of noise', play(3, (second) => (second % 0.5 < 0.25 ? 0.6 : 0.002) * (random() - 0.5))],
  ['clicks', play(3, (second) => (second % 0.5 < 0.005 ? 1 : 0.002) * (random() - 0.5))],
  ['a constant offset', new Float32Array(RATE).fill(0.5)],
  ['a tone', tone(440, RATE, 3)],
  ['beeps', play(4, (second) => (second % 0.5 < 0.25 ? 0.3 * Math.sin(2 * Math.PI * 1_000 * second) : 0))],
  ['a rising tone', play(3, (second) => 0.3 * Math.sin(2 * Math.PI * (200 + 500 * second) * second))],
  ['a quick tune', music(0.19, 1)],
  ['a tune', music(0.375, 1)],
  ['a slow tune', music(0.75, 1)],
  ['quick chords', music(0.19, 3)],
  ['chords', music(0.375, 3)],
  ['slow chords', music(0.75, 3)],
])('recognises no digit in %s', (_, samples) => {
  expect(transcribeSamples(samples)).toBe('')
})
