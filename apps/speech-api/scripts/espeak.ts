import { execFileSync, spawnSync } from 'node:child_process'
import { join } from '../src/wav/join.ts'
import { createWavReader } from '../src/wav/wav-reader.ts'

/** Whether `espeak-ng` is on this machine. */
export function hasEspeak(): boolean {
  return spawnSync('espeak-ng', ['--version'], { stdio: 'ignore' }).status === 0
}

/** Has `espeak-ng` say a text; returns one channel at 16 kHz. */
export function say(text: string, voice: string, wordsPerMinute: number): Float32Array {
  const file = execFileSync('espeak-ng', ['-v', voice, '-s', String(wordsPerMinute), '--stdout', text], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const reader = createWavReader(() => [16_000])
  return join([reader.push(file), reader.end()])
}
