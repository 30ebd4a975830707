import { execFile, type ChildProcess } from 'node:child_process'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { startSpeechApi } from '@tokenwell/speech-api'
import { startTokenService } from '@tokenwell/token-service'
import { inherited } from './run-command.ts'

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
