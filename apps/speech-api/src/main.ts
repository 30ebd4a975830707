import process from 'node:process'
import { createCommandEngine } from './engines/command-engine.ts'
import { startSpeechApi } from './http/create-speech-api.ts'

try {
  // The program of `SPEECH_ENGINE` does not get the secrets.
  const { CLIENT_SECRET, CONSUMER_SECRET, ...environment } = process.env
  const {
    AUTH_URL,
    CLIENT_ID,
    CONSUMER_KEY,
    PORT = '4100',
    HOST,
    ALLOWED_ORIGINS,
    SPEECH_ENGINE,
  } = environment
  const api = await startSpeechApi({
    authUrl: required('AUTH_URL', AUTH_URL),
    clientId: required('CLIENT_ID', CLIENT_ID || CONSUMER_KEY),
    clientSecret: required('CLIENT_SECRET', CLIENT_SECRET || CONSUMER_SECRET),
    allowInsecureRequests: environment['ALLOW_INSECURE'] === '1',
    allowedOrigins: ALLOWED_ORIGINS?.split(/[\s,]+/).filter(Boolean),
    engine: SPEECH_ENGINE ? createCommandEngine(SPEECH_ENGINE, environment) : undefined,
    port: portFrom(PORT),
    host: HOST || undefined,
  })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void api.close())
} catch (error) {
  process.stderr.write(`speech-api: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 2
}

function required(name: string, value: string | undefined): string {
  if (value) return value
  throw new Error(`${name} is missing. Set it in the environment.`)
}

function portFrom(text: string): number {
  const port = Number(text)
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port
  throw new Error(`PORT must be a whole number from 0 to 65535, not "${text}".`)
}
