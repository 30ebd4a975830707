import {
  buildTokenRequest,
  TokenError,
  type ClientCredentialsOptions,
  type TokenRequestOptions,
} from '@tokenwell/core'
import { nameOptions } from '../explain-error.ts'
import { warn } from '../output.ts'
import type { CommandContext } from '../command-context.ts'
import { UsageError } from '../usage-error.ts'
import { prompt } from './prompt.ts'
import type { ConnectionFlags } from './connection-options.ts'
import { readCredentialsFile } from './credentials-file.ts'
import { readFirstLine } from './read-first-line.ts'

/** A token endpoint and the credentials for it. */
export type Connection = TokenRequestOptions &
  Pick<ClientCredentialsOptions, 'expiresInUnit'> & {
    readonly clientSecret: string
    readonly clientAuthentication?: 'post' | 'basic' | undefined
    /** Where each value came from, such as `--auth-url` or `CONSUMER_KEY`. */
    readonly origins: Readonly<Record<string, string>>
  }

interface ResolveOptions {
  /** Leaves plain HTTP to the caller to report. @default false */
  readonly allowPlainHttp?: boolean | undefined
}

/** @throws {UsageError} naming the option, variable or file entry that is missing or invalid */
export async function resolveConnection(
  flags: ConnectionFlags,
  context: CommandContext,
  { allowPlainHttp }: ResolveOptions = {},
): Promise<Connection> {
  const { stdin } = context
  const file = flags.credentials === undefined ? {} : await readCredentialsFile(flags.credentials)
  const places = placesOf(flags, file, context)
  const promptFor = async (label: string, hidden: boolean) => ({
    value: await prompt(`${label}: `, { ...context, hidden }),
    origin: 'the prompt',
  })

  const endpoint = resolveEndpoint(places)
  const clientId = find(places, 'clientId') ?? (await promptFor('Client ID', false))
  if (!clientId.value) {
    throw new UsageError('The client ID is missing. Set CLIENT_ID or CONSUMER_KEY, or pass --client-id.')
  }
  if (flags.clientSecret !== undefined && flags.clientSecret !== '-') {
    warn(
      context,
      'All users of this machine can read --client-secret in the process list, and your shell history may keep it. ' +
        'Set CLIENT_SECRET, or pass --credentials.',
    )
  }
  const clientSecret =
    (flags.clientSecret === '-'
      ? { value: await readFirstLine(stdin), origin: 'standard input' }
      : find(places, 'clientSecret')) ?? (await promptFor('Client secret', true))
  if (!clientSecret.value) {
    throw new UsageError(
      'The client secret is missing. Set CLIENT_SECRET or CONSUMER_SECRET, or pass --credentials.',
    )
  }
  const connection: Connection = {
    [endpoint.option]: endpoint.value,
    clientId: clientId.value,
    clientSecret: clientSecret.value,
    clientAuthentication: flags.basic ? 'basic' : 'post',
    scope: flags.scope,
    audience: flags.audience,
    resource: flags.resource,
    extraParameters: flags.parameter && Object.fromEntries(flags.parameter.map(readPair)),
    expiresInUnit: flags.expiresIn,
    allowInsecure: flags.allowInsecure,
    origins: {
      [endpoint.option]: endpoint.origin,
      clientId: clientId.origin,
      clientSecret: clientSecret.origin,
    },
  }
  checkConnection(connection, allowPlainHttp)
  return connection
}

/** Lets the library check the options, and names where an invalid one came from. */
function checkConnection(connection: Connection, allowPlainHttp = false): void {
  try {
    buildTokenRequest(allowPlainHttp ? { ...connection, allowInsecure: true } : connection)
  } catch (error) {
    if (!(error instanceof TokenError)) throw error
    throw new UsageError(nameOptions(error.message, connection.origins))
  }
}

type Option = 'authUrl' | 'tokenUrl' | 'clientId' | 'clientSecret'
interface Found {
  readonly value: string
  readonly origin: string
}
type Place = Partial<Record<Option, Found | undefined>>

/** Precedence: flags, file, environment. */
function placesOf(
  flags: ConnectionFlags,
  file: Partial<Record<Option, string | undefined>>,
  { env }: CommandContext,
): readonly Place[] {
  const given = (value: string | undefined, origin: string) =>
    value === undefined ? undefined : { value, origin }
  const inFile = (option: Option) => given(file[option], `${option} in ${flags.credentials}`)
  const variable = (...names: readonly string[]) => {
    const name = names.find((each) => env[each])
    return name === undefined ? undefined : given(env[name], name)
  }
  return [
    {
      authUrl: given(flags.authUrl, '--auth-url'),
      tokenUrl: given(flags.tokenUrl, '--token-url'),
      clientId: given(flags.clientId, '--client-id'),
      clientSecret: given(flags.clientSecret, '--client-secret'),
    },
    {
      authUrl: inFile('authUrl'),
      tokenUrl: inFile('tokenUrl'),
      clientId: inFile('clientId'),
      clientSecret: inFile('clientSecret'),
    },
    {
      authUrl: variable('AUTH_URL'),
      tokenUrl: variable('TOKEN_URL'),
      clientId: variable('CLIENT_ID', 'CONSUMER_KEY'),
      clientSecret: variable('CLIENT_SECRET', 'CONSUMER_SECRET'),
    },
  ]
}

function find(places: readonly Place[], option: Option): Found | undefined {
  return places.map((place) => place[option]).find((found) => found !== undefined)
}

function resolveEndpoint(places: readonly Place[]): Found & { readonly option: 'authUrl' | 'tokenUrl' } {
  for (const { authUrl, tokenUrl } of places) {
    if (authUrl && tokenUrl) {
      throw new UsageError(
        `${authUrl.origin} and ${tokenUrl.origin} are mutually exclusive. Pass one of them.`,
      )
    }
    if (authUrl) return { ...authUrl, option: 'authUrl' }
    if (tokenUrl) return { ...tokenUrl, option: 'tokenUrl' }
  }
  throw new UsageError(
    'The token endpoint is missing. Pass --auth-url or set AUTH_URL; for an endpoint other than the platform’s, pass --token-url or set TOKEN_URL.',
  )
}

function readPair(parameter: string): readonly [string, string] {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(parameter) ?? []
  // The value is not quoted, because it may be a secret.
  if (name === undefined || value === undefined) throw new UsageError('--parameter requires name=value.')
  return [name, value]
}
