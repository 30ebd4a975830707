import { execFile, type ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startSpeechApi } from '@tokenwell/speech-api'
import { startTokenService } from '@tokenwell/token-service'
import type { Expected } from '../src/speech/speech-api-response.ts'

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
const inherited = {
  PATH: process.env['PATH'],
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
}

/** Runs the built command in another process, with next to nothing of this environment. */
export function runCommand(
  name: 'transcribe' | 'demo' | 'serve',
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

interface Sample {
  readonly file: string
  readonly expected: Expected
  readonly text: string
}

export const samples = JSON.parse(readFileSync(`${samplesFolder}/samples.json`, 'utf8')) as readonly Sample[]

/** The sample for each kind of expected speech. */
export function sampleOf(grammar: Expected['grammar']): Sample {
  return samples.find(({ expected }) => expected.grammar === grammar)!
}

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

const api = { clientId: 'speech-api', clientSecret: 'of the speech API' }

/** The applications of the test token service. */
export const application = { clientId: 'orders', clientSecret: 'a-secret-that-nobody-may-see' }
export const pageApplication = { clientId: 'orders-page', clientSecret: 'another-secret-that-nobody-may-see' }

export const pageLifetimeSeconds = 300

export function startTokens(products = ['speech-to-text']) {
  return startTokenService({
    applications: [
      { ...application, name: 'Orders', products },
      { ...pageApplication, name: 'Orders in a page', products, lifetimeSeconds: pageLifetimeSeconds },
    ],
    resourceServers: [api],
  })
}

export function startSpeech(authUrl: string) {
  return startSpeechApi({ ...api, authUrl, quiet: true })
}

/** Starts the speech API in another process, which can be killed. */
export async function spawnSpeech(
  authUrl: string,
  port: number,
  settings: NodeJS.ProcessEnv = {},
): Promise<ChildProcess> {
  const root = createRequire(import.meta.url).resolve('@tokenwell/speech-api/package.json')
  return spawnServer(join(root, '../dist/main.js'), {
    AUTH_URL: authUrl,
    CLIENT_ID: api.clientId,
    CLIENT_SECRET: api.clientSecret,
    PORT: String(port),
    ...settings,
  })
}

/** Starts a server and waits for its first output, which it prints when it listens. */
export function spawnServer(script: string, env: NodeJS.ProcessEnv): Promise<ChildProcess> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      process.execPath,
      [script],
      { env: { ...inherited, ...env }, maxBuffer: 10_000_000 },
      (error, _stdout, stderr) => reject(new Error(`The server exited: ${stderr}`, { cause: error })),
    )
    child.stdout?.once('data', () => resolve(child))
  })
}

export async function stop(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill(signal)
  await ended
}
