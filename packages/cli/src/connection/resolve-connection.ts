import type { ClientCredentialsOptions, TokenRequestOptions } from '@tokenwell/core'
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
  }

/** @throws {UsageError} naming the missing option */
export async function resolveConnection(
  flags: ConnectionFlags,
  context: CommandContext,
): Promise<Connection> {
  const { stdin, env } = context
  const file = flags.credentials === undefined ? {} : await readCredentialsFile(flags.credentials)
  const promptFor = (label: string, hidden: boolean) => prompt(`${label}: `, { ...context, hidden })

  const endpoint = resolveEndpoint(flags, file, env)
  const clientId =
    flags.clientId ??
    file.clientId ??
    (env['CLIENT_ID'] || env['CONSUMER_KEY'] || (await promptFor('Client ID', false)))
  if (!clientId) {
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
    (flags.clientSecret === '-' ? await readFirstLine(stdin) : flags.clientSecret) ??
    file.clientSecret ??
    (env['CLIENT_SECRET'] || env['CONSUMER_SECRET'] || (await promptFor('Client secret', true)))
  if (!clientSecret) {
    throw new UsageError(
      'The client secret is missing. Set CLIENT_SECRET or CONSUMER_SECRET, or pass --credentials.',
    )
  }
  return {
    ...endpoint,
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

interface EndpointUrls {
  readonly authUrl?: string | undefined
  readonly tokenUrl?: string | undefined
}

/** Precedence: flags, file, environment. */
function resolveEndpoint(flags: EndpointUrls, file: EndpointUrls, env: NodeJS.ProcessEnv): EndpointUrls {
  const fromEnvironment = { authUrl: env['AUTH_URL'] || undefined, tokenUrl: env['TOKEN_URL'] || undefined }
  for (const { authUrl, tokenUrl } of [flags, file, fromEnvironment]) {
    if (authUrl !== undefined && tokenUrl !== undefined) {
      throw new UsageError(
        '--auth-url (AUTH_URL) and --token-url (TOKEN_URL) are mutually exclusive. Pass one of them.',
      )
    }
    if (authUrl !== undefined || tokenUrl !== undefined) return { authUrl, tokenUrl }
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
