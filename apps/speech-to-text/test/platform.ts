import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, request, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { type LocalPlatform, startLocalPlatform } from '../src/platform/local-platform.ts'

export const samplesFolder = fileURLToPath(new URL('../samples', import.meta.url))

interface Sample {
  readonly file: string
  readonly fields: Record<string, string>
  readonly text: string
}

export const samples = JSON.parse(readFileSync(`${samplesFolder}/samples.json`, 'utf8')) as readonly Sample[]
export const [digits] = samples as [Sample]
export const digitsWav = readFileSync(`${samplesFolder}/${digits.file}`)

/** The sample of digits several times: 30 times are more than a minute. */
export function repeated(times: number): Buffer<ArrayBuffer> {
  const sound = digitsWav.subarray(44)
  const wav = Buffer.concat([digitsWav.subarray(0, 44), ...Array.from({ length: times }, () => sound)])
  wav.writeUInt32LE(wav.length - 8, 4)
  wav.writeUInt32LE(wav.length - 44, 40)
  return wav
}

/** Starts a token service and a speech API for the tests of a file. */
export function usePlatform() {
  let platform: LocalPlatform
  beforeAll(async () => void (platform = await startLocalPlatform()))
  afterAll(() => platform.close())
  return {
    get environment() {
      return platform.environment
    },
    get speechUrl() {
      return platform.environment['SPEECH_URL']!
    },
    get credentials() {
      const { AUTH_URL: authUrl, CLIENT_ID: clientId, CLIENT_SECRET: clientSecret } = platform.environment
      return { authUrl: authUrl!, clientId: clientId!, clientSecret: clientSecret! }
    },
  }
}

export async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A proxy that breaks the first connection over which the result of a long recording is sent. */
export async function startLossyProxy(target: string): Promise<{ url: string; lost(): number }> {
  let lost = 0
  const url = await listen((incoming, outgoing) => {
    const { method, url = '', headers } = incoming
    const passOn = async (response: IncomingMessage) => {
      const body = Buffer.concat(await response.toArray())
      if (method === 'GET' && lost === 0 && body.includes('"done"')) {
        lost++
        outgoing.destroy()
        return
      }
      outgoing.writeHead(response.statusCode!, response.headers).end(body)
    }
    incoming.pipe(request(target + url, { method: method!, headers }, (response) => void passOn(response)))
  })
  return { url, lost: () => lost }
}

export interface CommandResult {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs the built command in another process, with next to nothing of this environment. */
export function runCommand(
  name: 'transcribe' | 'demo' | 'serve',
  args: readonly string[],
  { env, input }: { env?: Readonly<Record<string, string>>; input?: Buffer } = {},
): Promise<CommandResult> {
  const script = fileURLToPath(new URL(`../dist/${name}.js`, import.meta.url))
  const inherited = { PATH: process.env['PATH'], NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] }
  return new Promise((resolve) => {
    const options = { cwd: samplesFolder, env: { ...inherited, ...env } }
    const child = execFile(process.execPath, [script, ...args], options, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr })
    })
    child.stdin?.end(input)
  })
}
