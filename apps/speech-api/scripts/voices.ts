import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { whichCommandSync } from 'which-command'

/** Voices of flite that were made from recordings of people. */
export const fliteVoices = ['awb', 'kal16', 'rms', 'slt'] as const

/** Whether a program is installed. */
export function isInstalled(program: string): boolean {
  return Boolean(whichCommandSync(program))
}

/** Speaks a text with `flite`; returns a WAV file and the sounds in it. */
export function flite(text: string, voice: string): { wav: Buffer; sounds: Sound[] } {
  const folder = mkdtempSync(join(tmpdir(), 'flite-'))
  try {
    const file = join(folder, 'speech.wav')
    const printed = execFileSync('flite', ['-voice', voice, '-t', text, '-psdur', '-o', file], {
      encoding: 'utf8',
    })
    return { wav: readFileSync(file), sounds: readSounds(printed) }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Speaks a text with `espeak-ng`; returns a WAV file. */
export function espeak(text: string, voice: string): Buffer {
  return execFileSync('espeak-ng', ['-v', voice, '--stdout', text], { stdio: ['ignore', 'pipe', 'ignore'] })
}

export interface Sound {
  readonly phone: string
  /** Seconds from the start. */
  readonly start: number
}

/** `pau:0.195 p:0.297 l:0.333`: each sound with its end. */
function readSounds(printed: string): Sound[] {
  let start = 0
  return printed
    .trim()
    .split(/\s+/)
    .map((item) => {
      const [phone = '', end] = item.split(':')
      const sound = { phone, start }
      start = Number(end)
      return sound
    })
}
