import type { StartSpeechApiOptions } from './start-speech-api.ts'

const DEFAULT_PORT = 4_100

/** Reads what the server is started with from the environment; throws one sentence naming what is missing or wrong. */
export function readSettings(
  environment: Readonly<Record<string, string | undefined>>,
): StartSpeechApiOptions {
  const required = (...names: string[]) => {
    const value = names.map((name) => environment[name]).find(Boolean)
    if (!value) throw new Error(`${names.join(' or ')} is not set.`)
    return value
  }
  const port = Number(environment['PORT'] || DEFAULT_PORT)
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new Error(`PORT must be a number from 0 to 65535, not "${environment['PORT']}".`)
  }
  return {
    port,
    host: environment['HOST'] || undefined,
    authUrl: required('AUTH_URL'),
    clientId: required('CLIENT_ID', 'CONSUMER_KEY'),
    clientSecret: required('CLIENT_SECRET', 'CONSUMER_SECRET'),
    allowInsecure: environment['ALLOW_INSECURE'] === '1',
  }
}
