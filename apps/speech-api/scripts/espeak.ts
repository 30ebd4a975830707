import { execFileSync, spawnSync } from 'node:child_process'
import { joinSamples } from '../src/wav/resampler.ts'
import { createWavReader } from '../src/wav/wav-reader.ts'

export const DIGIT_WORDS = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine']

/** Whether `espeak-ng` is installed. */
export function hasEspeak(): boolean {
  return spawnSync('espeak-ng', ['--version'], { stdio: 'ignore' }).status === 0
}

/** Speaks a text with `espeak-ng`; returns one channel at 16 kHz. */
export function say(text: string, voice: string, wordsPerMinute: number): Float32Array {
  const file = execFileSync('espeak-ng', ['-v', voice, '-s', String(wordsPerMinute), '--stdout', text], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const reader = createWavReader(() => [16_000])
  return joinSamples([reader.push(file), reader.end()])
}
