import type { ClientCredentialsOptions } from '@tokenwell/core'
import { warn } from '../output.ts'
import type { Surroundings } from '../surroundings.ts'
import { UserMistake } from '../user-mistake.ts'
import { askOnTerminal } from './ask-on-terminal.ts'
import type { ConnectionFlags } from './connection-options.ts'
import { readCredentialsFile } from './credentials-file.ts'
import { readFirstLine } from './read-first-line.ts'

/** A token endpoint and what to ask it with; the secret is at hand. */
export type Connection = ClientCredentialsOptions & { readonly clientSecret: string }

/** @throws {UserMistake} naming what is missing */
export async function resolveConnection(
  flags: ConnectionFlags,
  surroundings: Surroundings,
): Promise<Connection> {
  const { stdin, env } = surroundings
  const file = flags.credentials === undefined ? {} : await readCredentialsFile(flags.credentials)
  const ask = (question: string, hidden: boolean) => askOnTerminal(question, { ...surroundings, hidden })

  const address = resolveAddress(flags, file, env)
  const clientId =
    flags.clientId ??
    file.clientId ??
    (env['CLIENT_ID'] || env['CONSUMER_KEY'] || (await ask('Client ID: ', false)))
  if (!clientId) {
    throw new UserMistake('The client ID is missing: set CLIENT_ID or CONSUMER_KEY, or give --client-id.')
  }
  if (flags.clientSecret !== undefined && flags.clientSecret !== '-') {
    warn(
      surroundings,
      'every user of this machine can read --client-secret in the list of processes, and your shell may keep it; ' +
        'set CLIENT_SECRET, or use --credentials.',
    )
  }
  const clientSecret =
    (flags.clientSecret === '-' ? await readFirstLine(stdin) : flags.clientSecret) ??
    file.clientSecret ??
    (env['CLIENT_SECRET'] || env['CONSUMER_SECRET'] || (await ask('Client secret: ', true)))
  if (!clientSecret) {
    throw new UserMistake(
      'The client secret is missing: set CLIENT_SECRET or CONSUMER_SECRET, or give --credentials.',
    )
  }
  return {
    ...address,
    clientId,
    clientSecret,
    clientAuthentication: flags.basic ? 'basic' : 'post',
    scope: flags.scope,
    audience: flags.audience,
    resource: flags.resource,
    extraParameters: flags.parameter && Object.fromEntries(flags.parameter.map(readPair)),
    expiresInUnit: flags.expiresIn,
    allowInsecure: flags.allowInsecure,
  }
}

interface Address {
  readonly authUrl?: string | undefined
  readonly tokenUrl?: string | undefined
}

/** The first that names one. */
function resolveAddress(flags: Address, file: Address, env: NodeJS.ProcessEnv): Address {
  const fromEnvironment = { authUrl: env['AUTH_URL'] || undefined, tokenUrl: env['TOKEN_URL'] || undefined }
  for (const { authUrl, tokenUrl } of [flags, file, fromEnvironment]) {
    if (authUrl !== undefined && tokenUrl !== undefined) {
      throw new UserMistake(
        'There are two addresses: give either --auth-url (AUTH_URL) or --token-url (TOKEN_URL).',
      )
    }
    if (authUrl !== undefined || tokenUrl !== undefined) return { authUrl, tokenUrl }
  }
  throw new UserMistake(
    'The address is missing: give --auth-url or set AUTH_URL; or --token-url, TOKEN_URL for an endpoint other than the platform’s.',
  )
}

function readPair(parameter: string): readonly [string, string] {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(parameter) ?? []
  // What was given may be a secret.
  if (name === undefined || value === undefined) throw new UserMistake('--parameter wants name=value.')
  return [name, value]
}
