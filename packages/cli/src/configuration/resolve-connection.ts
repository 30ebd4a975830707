import { readFile } from 'node:fs/promises'
import {
  clientCredentials,
  jwtBearer,
  TokenError,
  type ClientAuthentication,
  type ClientCredentialsOptions,
  type TokenSource,
} from '@tokenwell/core'
import type { TokenRequestOptions } from '@tokenwell/core/protocol'
import { nameOptions } from '../explain-error.ts'
import { warn, type CommandContext } from '../output.ts'
import { UsageError, InterruptedError } from '../command-errors.ts'
import type { ConnectionFlags } from './connection-options.ts'
import { readCredentialsFile } from './credentials-file.ts'
import { identitySource, keyAuthentication, type KeyFiles } from './key-authentication.ts'
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'

/** A token endpoint and the credentials for it. */
export type Connection = TokenRequestOptions &
  Pick<ClientCredentialsOptions, 'expiresInUnit'> & {
    /** Absent if the client authenticates with a key or an assertion. */
    readonly clientSecret?: string | undefined
    /** Whose metadata names the token endpoint. */
    readonly issuer?: string | undefined
    /** Absent if the issuer's metadata decides it. */
    readonly clientAuthentication?:
      | 'client_secret_post'
      | 'client_secret_basic'
      | ClientAuthentication
      | undefined
    /** The file with the assertion, if the client authenticates with one. */
    readonly assertionFile?: string | undefined
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
  const places = await placesOf(flags, context)
  const endpoint = resolveEndpoint(places)
  const clientId = find(places, 'clientId') ?? (await promptFor('client ID', false, context))
  if (!clientId.value) {
    throw new UsageError('The client ID is missing. Set CLIENT_ID or CONSUMER_KEY, or pass --client-id.')
  }
  const files = keyFilesOf(places)
  const issuer = endpoint.option === 'issuer' ? endpoint.value : undefined
  const keyed = await keyAuthentication(files, { ...flags, ...audienceOf(flags, endpoint) })
  const clientSecret = keyed ? undefined : await resolveSecret(flags, places, context)
  const connection: Connection = {
    [endpoint.option]: endpoint.value,
    clientId: clientId.value,
    clientSecret: clientSecret?.value,
    clientAuthentication:
      keyed ??
      (flags.basic ? 'client_secret_basic' : issuer === undefined ? 'client_secret_post' : undefined),
    assertionFile: files.assertionFile,
    ...requestOptions(flags),
    origins: {
      [endpoint.option]: endpoint.origin,
      clientId: clientId.origin,
      ...(clientSecret && { clientSecret: clientSecret.origin }),
    },
  }
  namingOrigins(connection.origins, () =>
    clientCredentials(allowPlainHttp ? { ...connection, allowInsecureRequests: true } : connection),
  )
  return connection
}

/** An assertion is for the issuer, unless the flags say otherwise. */
function audienceOf({ assertionAudience }: ConnectionFlags, { option, value }: Endpoint) {
  return option === 'issuer' && assertionAudience === undefined ? { assertionAudience: value } : {}
}

function requestOptions(flags: ConnectionFlags) {
  return {
    scope: flags.scope,
    audience: flags.audience,
    resource: flags.resource,
    parameters: flags.parameter && Object.fromEntries(flags.parameter.map(readPair)),
    expiresInUnit: flags.expiresIn,
    allowInsecureRequests: flags.allowInsecure,
  }
}

/**
 * Where tokens come from: client credentials, or the identity of this machine as the grant.
 *
 * @throws {UsageError} as `resolveConnection`
 */
export async function resolveSource(flags: ConnectionFlags, context: CommandContext): Promise<TokenSource> {
  if (flags.grant === 'client-credentials') return clientCredentials(await resolveConnection(flags, context))
  const places = await placesOf(flags, context)
  const endpoint = resolveEndpoint(places)
  const { identity } = flags
  const { assertionAudience } = { ...flags, ...audienceOf(flags, endpoint) }
  const path = identity === undefined ? find(places, 'assertionFile')?.value : undefined
  if (identity === undefined && path === undefined)
    throw new UsageError('--grant jwt-bearer requires --identity or --assertion-file.')
  const assertion =
    path === undefined ? await identitySource(identity!, assertionAudience) : () => readAssertion(path)
  if (path !== undefined) await readAssertion(path)
  return namingOrigins({ [endpoint.option]: endpoint.origin }, () =>
    jwtBearer({
      [endpoint.option]: endpoint.value,
      clientId: find(places, 'clientId')?.value,
      assertion,
      subject: path ?? `${identity} ${assertionAudience}`,
      ...requestOptions(flags),
    }),
  )
}

/** Platforms replace the file before the JWT expires. */
async function readAssertion(path: string): Promise<string> {
  return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`Could not read the assertion file ${path} (${error.code}).`)
  })
}

async function promptFor(name: string, hidden: boolean, context: CommandContext) {
  const value = await prompt(`${name.replace('c', 'C')}: `, { ...context, hidden })
  return { value, origin: `the ${name} that you typed` }
}

async function resolveSecret(
  { clientSecret: flag }: ConnectionFlags,
  places: readonly Place[],
  context: CommandContext,
): Promise<Found> {
  if (flag !== undefined && flag !== '-') {
    warn(
      context,
      'All users of this machine can read --client-secret in the process list, and your shell history may keep it. ' +
        'Set CLIENT_SECRET or pass --credentials instead.',
    )
  }
  const { value, origin } =
    (flag === '-'
      ? { value: await readFirstLine(context.stdin), origin: 'standard input' }
      : find(places, 'clientSecret')) ?? (await promptFor('client secret', true, context))
  if (value) return { value, origin }
  throw new UsageError(
    'The client secret is missing. Set CLIENT_SECRET or CONSUMER_SECRET, or pass --credentials.',
  )
}

/** The first place that has a key, an assertion or a secret decides how the client authenticates. */
function keyFilesOf(places: readonly Place[]): KeyFiles {
  const place = places.find((each) => each.privateKey ?? each.assertionFile ?? each.clientSecret)
  const { privateKey, assertionFile } = place ?? {}
  if (privateKey && assertionFile) {
    throw new UsageError(
      `${privateKey.origin} and ${assertionFile.origin} are mutually exclusive. Use one of them.`,
    )
  }
  return { privateKey: privateKey?.value, assertionFile: assertionFile?.value }
}

/** Lets the library check its options, and names where an invalid one came from. */
function namingOrigins<Result>(origins: Connection['origins'], create: () => Result): Result {
  try {
    return create()
  } catch (error) {
    if (!(error instanceof TokenError)) throw error
    throw new UsageError(nameOptions(error.message, origins))
  }
}

const endpointOptions = ['authUrl', 'tokenEndpoint', 'issuer'] as const
type EndpointOption = (typeof endpointOptions)[number]
type Option = EndpointOption | 'clientId' | 'clientSecret' | 'privateKey' | 'assertionFile'
interface Found {
  readonly value: string
  readonly origin: string
}
type Place = Partial<Record<Option, Found | undefined>>

/** Precedence: flags, file, environment. */
async function placesOf(flags: ConnectionFlags, { env }: CommandContext): Promise<readonly Place[]> {
  const file: Partial<Record<Option, string | undefined>> =
    flags.credentials === undefined ? {} : await readCredentialsFile(flags.credentials)
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
      tokenEndpoint: given(flags.tokenEndpoint, '--token-endpoint'),
      issuer: given(flags.issuer, '--issuer'),
      clientId: given(flags.clientId, '--client-id'),
      clientSecret: given(flags.clientSecret, '--client-secret'),
      privateKey: given(flags.privateKey, '--private-key'),
      assertionFile: given(flags.assertionFile, '--assertion-file'),
    },
    {
      authUrl: inFile('authUrl'),
      tokenEndpoint: inFile('tokenEndpoint'),
      issuer: inFile('issuer'),
      clientId: inFile('clientId'),
      clientSecret: inFile('clientSecret'),
    },
    {
      authUrl: variable('AUTH_URL'),
      tokenEndpoint: variable('TOKEN_ENDPOINT'),
      issuer: variable('ISSUER'),
      clientId: variable('CLIENT_ID', 'CONSUMER_KEY'),
      clientSecret: variable('CLIENT_SECRET', 'CONSUMER_SECRET'),
      privateKey: variable('PRIVATE_KEY_FILE'),
      assertionFile: variable('ASSERTION_FILE'),
    },
  ]
}

function find(places: readonly Place[], option: Option): Found | undefined {
  return places.map((place) => place[option]).find((found) => found !== undefined)
}

interface Endpoint extends Found {
  readonly option: EndpointOption
}

function resolveEndpoint(places: readonly Place[]): Endpoint {
  for (const place of places) {
    const [endpoint, other] = endpointOptions.flatMap((option) => {
      const found = place[option]
      return found ? [{ ...found, option }] : []
    })
    if (endpoint && other)
      throw new UsageError(`${endpoint.origin} and ${other.origin} are mutually exclusive. Use one of them.`)
    if (endpoint) return endpoint
  }
  throw new UsageError(
    "The token endpoint is missing. Pass --auth-url or set AUTH_URL. For an endpoint other than the platform's, pass --issuer or --token-endpoint, or set ISSUER or TOKEN_ENDPOINT.",
  )
}

function readPair(parameter: string): readonly [string, string] {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(parameter) ?? []
  // The value is not quoted, because it may be a secret.
  if (name === undefined || value === undefined)
    throw new UsageError('--parameter must have the form name=value.')
  return [name, value]
}

type PromptOptions = Pick<CommandContext, 'stdin' | 'stderr'> & { readonly hidden: boolean }

/**
 * Prompts on standard error, because standard output may be a pipe; undefined without a terminal.
 *
 * @throws {InterruptedError} on Ctrl+C and Ctrl+D
 */
async function prompt(
  question: string,
  { stdin, stderr, hidden }: PromptOptions,
): Promise<string | undefined> {
  if (!stdin.isTTY || !stderr.isTTY) return undefined
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: stdin, output: hidden ? silent : stderr, terminal: true })
  // Only now, because from here on typed characters are not echoed.
  if (hidden) stderr.write(question)
  lines.setPrompt(question)
  lines.prompt()
  try {
    return await new Promise((resolve, reject) => {
      lines.once('line', resolve)
      for (const event of ['SIGINT', 'close']) lines.once(event, () => reject(new InterruptedError()))
    })
  } finally {
    lines.close()
    if (hidden) stderr.write('\n')
  }
}

/** Undefined for empty input. */
async function readFirstLine(input: NodeJS.ReadableStream): Promise<string | undefined> {
  for await (const line of createInterface({ input })) return line || undefined
  return undefined
}
