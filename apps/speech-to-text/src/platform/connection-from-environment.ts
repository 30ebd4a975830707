import type { Connection } from '../clients/speech-client.ts'
import { SetupError } from '../setup-error.ts'
import type { Credentials } from './platform.ts'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * The platform that the environment names, or undefined where it names none.
 *
 * @throws {SetupError} naming the variable that is missing or wrong
 */
export function connectionFromEnvironment(environment: Environment): Connection | undefined {
  if (!environment['AUTH_URL'] && !environment['SPEECH_URL']) return undefined
  return {
    authUrl: urlFrom(environment, 'AUTH_URL'),
    speechUrl: urlFrom(environment, 'SPEECH_URL'),
    clientId: valueFrom(environment, 'CLIENT_ID', 'CONSUMER_KEY'),
    clientSecret: valueFrom(environment, 'CLIENT_SECRET', 'CONSUMER_SECRET'),
  }
}

/** The application for web pages, if there is one. */
export function pageFromEnvironment(environment: Environment): Credentials | undefined {
  const { PAGE_CLIENT_ID: clientId, PAGE_CLIENT_SECRET: clientSecret } = environment
  return clientId && clientSecret ? { clientId, clientSecret } : undefined
}

function urlFrom(environment: Environment, name: string): string {
  const value = valueFrom(environment, name)
  if (URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)) return value.replace(/\/+$/, '')
  throw new SetupError(`${name} is not an address: write one such as https://speech.example.com.`)
}

function valueFrom(environment: Environment, ...names: readonly [string, ...string[]]): string {
  for (const name of names) if (environment[name]) return environment[name]
  throw new SetupError(
    `${names.join(' or ')} is missing: set AUTH_URL, SPEECH_URL, CLIENT_ID and CLIENT_SECRET, or none of them to start everything here.`,
  )
}
