import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { readFileSync } from 'node:fs'

export interface CommandResult {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface CommandOptions {
  readonly cwd?: string | undefined
  readonly env?: Readonly<Record<string, string>> | undefined
  readonly input?: string | Buffer | undefined
  /** Called on the first output. */
  readonly onOutput?: (() => void) | undefined
}

/** What processes that the tests start get of this environment. */
export const inherited = {
  PATH: process.env['PATH'],
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
}

/** Runs the built command in another process, with next to nothing of this environment. */
export function runCommand(
  name: 'transcribe' | 'demo',
  args: readonly string[],
  { cwd, env, input, onOutput }: CommandOptions = {},
): Promise<CommandResult> {
  const script = fileURLToPath(new URL(`../dist/${name}.js`, import.meta.url))
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [script, ...args],
      { cwd, env: { ...inherited, ...env } },
      (error, stdout, stderr) => {
        const code = error ? (typeof error.code === 'number' ? error.code : -1) : 0
        resolve({ code, stdout, stderr })
      },
    )
    if (onOutput) child.stdout?.once('data', onOutput)
    child.stdin?.end(input)
  })
}

export const samplesFolder = fileURLToPath(new URL('../samples', import.meta.url))

/** The text of each sample, by file name. */
export const samples = JSON.parse(readFileSync(`${samplesFolder}/expected.json`, 'utf8')) as Record<
  string,
  string
>

export const sampleLines = Object.entries(samples).map(([file, text]) => `${file}: ${text}`)

/** A WAV file of silence: 16 kHz, mono, 16 bits. */
export function silentWav(seconds: number): Buffer {
  const bytes = Math.round(seconds * 16_000) * 2
  const wav = Buffer.alloc(44 + bytes)
  wav.write('RIFF', 0)
  wav.writeUInt32LE(36 + bytes, 4)
  wav.write('WAVEfmt ', 8)
  wav.writeUInt32LE(16, 16)
  wav.writeUInt16LE(1, 20)
  wav.writeUInt16LE(1, 22)
  wav.writeUInt32LE(16_000, 24)
  wav.writeUInt32LE(32_000, 28)
  wav.writeUInt16LE(2, 32)
  wav.writeUInt16LE(16, 34)
  wav.write('data', 36)
  wav.writeUInt32LE(bytes, 40)
  return wav
}

/** The same recording with silence before and after it; for 16 kHz, mono, 16 bits. */
export function padWav(wav: Buffer, seconds: number): Buffer {
  const silence = silentWav(seconds).subarray(44)
  const sound = wav.subarray(wav.indexOf('data') + 8)
  const padded = Buffer.concat([silentWav(0), silence, sound, silence])
  padded.writeUInt32LE(padded.length - 8, 4)
  padded.writeUInt32LE(padded.length - 44, 40)
  return padded
}
