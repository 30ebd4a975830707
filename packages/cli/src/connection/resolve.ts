import { readFile } from 'node:fs/promises'
import {
  clientCredentials,
  jwtBearer,
  TokenError,
  type ClientAuthentication,
  type ClientCredentialsOptions,
  type TokenProvider,
  type TokenProviderOptions,
} from '@tokenwell/core'
import { authenticationIn, readerOf, type EnvironmentAuthentication } from '@tokenwell/core/adapter'
import type { TokenRequestOptions } from '@tokenwell/core/protocol'
import { nameOptions, UsageError } from '../errors.ts'
import { warn, type CommandContext } from '../output.ts'
import type { ConnectionFlags, Identity } from './flags.ts'
import { readCredentialsFile, readPrivateFile } from './private-file.ts'
import { isInteractive, prompt, readFirstLine } from './prompt.ts'
import { misspellings, variables } from './variables.ts'

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
    /** How the client authenticates. */
    readonly way: Way
    /** Where each value came from, such as `--auth-url` or `CONSUMER_KEY`. */
    readonly origins: Readonly<Record<string, string>>
  }

/** How the client authenticates, and what said so. */
export interface Way extends Pick<EnvironmentAuthentication, 'way' | 'value'> {
  /** Such as `--identity` or `IDENTITY`. */
  readonly origin: string
  /** Whether a variable said so. */
  readonly isVariable: boolean
  /** Variables that are set as well, and not used. */
  readonly ignored: readonly string[]
}

/** Something that the command needs and nobody has set. */
export interface Missing {
  /** Such as `the client ID`. */
  readonly name: string
  readonly hint: string
  /** Its variables, which may be misspelt. */
  readonly variables?: readonly string[]
}

const missingEndpoint: Missing = {
  name: 'the token endpoint',
  hint: "Token endpoint: pass --issuer, --token-endpoint or, for the platform's token service, --auth-url; or set ISSUER, TOKEN_ENDPOINT or AUTH_URL.",
  variables: [...variables.issuer, ...variables.tokenEndpoint, ...variables.authUrl],
}
const missingClientId: Missing = {
  name: 'the client ID',
  hint: 'Client ID: pass --client-id, or set CLIENT_ID or CONSUMER_KEY.',
  variables: variables.clientId,
}
const missingClientSecret: Missing = {
  name: 'the client secret',
  hint: 'Client secret: set CLIENT_SECRET or CONSUMER_SECRET, or pass --credentials.',
  variables: variables.clientSecret,
}
const missingAssertion: Missing = {
  name: 'the assertion',
  hint: 'Assertion: pass --identity or --assertion-file, which --grant jwt-bearer requires.',
  variables: variables.assertionFile,
}
const missingAudience = (required: string): Missing => ({
  name: 'the audience of the assertion',
  hint: `Audience: set ASSERTION_AUDIENCE or pass --assertion-audience, which ${required} requires, with what the token endpoint expects.`,
  variables: variables.assertionAudience,
})

/**
 * @param unused why something that is set was not used
 * @throws {UsageError} naming all of them
 */
function requireAll(
  missing: readonly Missing[],
  { env }: CommandContext,
  unused: readonly string[] = [],
): void {
  if (missing.length === 0) return
  const names = missing.map(({ name }) => name)
  const list = new Intl.ListFormat('en').format(names)
  const sentence = `${list.charAt(0).toUpperCase()}${list.slice(1)} ${names.length === 1 ? 'is' : 'are'} missing.`
  const near = misspellings(
    env,
    missing.flatMap((each) => each.variables ?? []),
  )
  throw new UsageError(sentence, [
    ...missing.map(({ hint }) => hint),
    ...unused,
    ...near.map(({ given, meant }) => `${given} is set, but not read: the name is ${meant}.`),
  ])
}

interface ResolveOptions {
  /** Leaves plain HTTP to the caller to report. @default false */
  readonly allowPlainHttp?: boolean | undefined
  /** What is missing besides, so that everything is named at once. */
  readonly missing?: readonly Missing[] | undefined
}

/** @throws {UsageError} naming the options, variables or file entries that are missing or invalid */
export async function resolveConnection(
  flags: ConnectionFlags,
  context: CommandContext,
  { allowPlainHttp, missing = [] }: ResolveOptions = {},
): Promise<Connection> {
  const { places, unused } = await placesOf(flags, context)
  const found = findEndpoint(places)
  const givenId = find(places, 'clientId')
  const way = chooseWay(flags, places, context)
  const usesSecret = way === undefined || way.way === 'clientSecret'
  const hasSecret = flags.clientSecret === '-' || find(places, 'clientSecret') !== undefined
  const mayAsk = isInteractive(context)
  const required =
    way?.way === 'identity' ? `${way.origin}${way.isVariable ? '' : ` ${way.value}`}` : undefined
  requireAll(
    [
      ...missing,
      ...(found ? [] : [missingEndpoint]),
      ...(givenId || mayAsk ? [] : [missingClientId]),
      ...(!usesSecret || hasSecret || mayAsk ? [] : [missingClientSecret]),
      ...(required && audienceOf(places, found) === undefined ? [missingAudience(required)] : []),
    ],
    context,
    unused,
  )
  const endpoint = found!
  const clientId = givenId ?? (await promptFor('client ID', missingClientId, context))
  const keyed = usesSecret
    ? undefined
    : await authenticate(way, { flags, places, endpoint, clientId }, context)
  const clientSecret = usesSecret ? await resolveSecret(flags, places, context) : keyed?.clientSecret
  const isDecidedByIssuer = endpoint.option === 'issuer' && !flags.basic
  const connection: Connection = {
    [endpoint.option]: endpoint.value,
    clientId: clientId.value,
    clientSecret: clientSecret?.value,
    clientAuthentication:
      keyed?.clientAuthentication ??
      (isDecidedByIssuer ? undefined : flags.basic ? 'client_secret_basic' : 'client_secret_post'),
    way: way ?? {
      way: 'clientSecret',
      value: '',
      origin: clientSecret!.origin,
      isVariable: false,
      ignored: [],
    },
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

/**
 * A provider of tokens from client credentials, or the identity of this machine as the grant.
 *
 * @throws {UsageError} as `resolveConnection`
 */
export async function resolveTokens(
  flags: ConnectionFlags,
  context: CommandContext,
  settings: TokenProviderOptions,
  options: ResolveOptions = {},
): Promise<TokenProvider> {
  if (flags.grant === 'client-credentials') {
    const connection = await resolveConnection(flags, context, options)
    const { ignored, origin } = connection.way
    if (ignored.length > 0) warn(context, explainIgnored(origin, ignored))
    return clientCredentials({ ...connection, ...settings })
  }
  const { places, unused } = await placesOf(flags, context)
  const found = findEndpoint(places)
  const { identity } = flags
  const path = identity === undefined ? find(places, 'assertionFile')?.value : undefined
  const assertionAudience = audienceOf(places, found)
  const needsAudience = identity !== undefined && assertionAudience === undefined
  requireAll(
    [
      ...(options.missing ?? []),
      ...(found ? [] : [missingEndpoint]),
      ...((identity ?? path) ? [] : [missingAssertion]),
      ...(needsAudience ? [missingAudience(`--identity ${identity}`)] : []),
    ],
    context,
    unused,
  )
  const endpoint = found!
  const assertion =
    path === undefined ? await identitySource(identity!, assertionAudience!) : () => readAssertion(path)
  if (path !== undefined) await readAssertion(path)
  return namingOrigins({ [endpoint.option]: endpoint.origin }, () =>
    jwtBearer({
      [endpoint.option]: endpoint.value,
      clientId: find(places, 'clientId')?.value,
      assertion,
      subject: path ?? `${identity} ${assertionAudience}`,
      ...requestOptions(flags),
      ...settings,
    }),
  )
}

/** What a variable is ignored for, and what to do. */
export function explainIgnored(used: string, ignored: readonly string[]): string {
  const names = new Intl.ListFormat('en').format(ignored)
  return `${used} is used, and ${names} ${ignored.length === 1 ? 'is' : 'are'} not. Unset ${used} to authenticate without it.`
}

/** An assertion is for the issuer, unless a flag or a variable says otherwise. */
function audienceOf(places: readonly Place[], endpoint: Endpoint | undefined): string | undefined {
  return (
    find(places, 'assertionAudience')?.value ?? (endpoint?.option === 'issuer' ? endpoint.value : undefined)
  )
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

function readPair(parameter: string): readonly [string, string] {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(parameter) ?? []
  // The value is not quoted, because it may be a secret.
  if (name === undefined || value === undefined)
    throw new UsageError('--parameter must have the form name=value.')
  return [name, value]
}

async function promptFor(name: string, missing: Missing, context: CommandContext): Promise<Found> {
  const question = `${name.replace('c', 'C')}: `
  const value = await prompt(question, context, { hidden: name === 'client secret' })
  if (value === '') requireAll([missing], context)
  return { value, origin: `the ${name} that you typed` }
}

async function resolveSecret(
  { clientSecret: flag }: ConnectionFlags,
  places: readonly Place[],
  context: CommandContext,
): Promise<Found> {
  if (flag === '-') {
    const value = await readFirstLine(context.stdin)
    if (value !== undefined) return { value, origin: 'standard input' }
    throw new UsageError('Standard input contains no client secret, which --client-secret - reads from it.')
  }
  if (flag !== undefined) {
    warn(
      context,
      'All users of this machine can read --client-secret in the process list, and your shell history may keep it. ' +
        'Set CLIENT_SECRET or pass --credentials instead.',
    )
  }
  return find(places, 'clientSecret') ?? promptFor('client secret', missingClientSecret, context)
}

/** The first place that says how the client authenticates decides it. */
function chooseWay(
  flags: ConnectionFlags,
  places: readonly Place[],
  { env }: CommandContext,
): Way | undefined {
  for (const place of places) {
    const { identity, privateKey, assertionFile, clientSecret } = place
    const read = readerOf(env)
    // A flag may name the client of the environment.
    const readClient = (name: string): string =>
      read(name) || (name === variables.clientId[0] ? (flags.clientId ?? '') : '')
    const chosen = place.isEnvironment ? namingOrigins({}, () => authenticationIn(readClient)) : undefined
    if (chosen) return { ...chosen, origin: chosen.variable, isVariable: true }
    const own = { isVariable: false, ignored: [] }
    if (clientSecret) return { ...clientSecret, ...own, way: 'clientSecret' }
    if (place.isEnvironment) continue
    if (identity) return { ...identity, ...own, way: 'identity' }
    if (privateKey) return { ...privateKey, ...own, way: 'privateKey' }
    if (assertionFile) return { ...assertionFile, ...own, way: 'assertionFile' }
  }
  return undefined
}

interface Client {
  readonly flags: ConnectionFlags
  readonly places: readonly Place[]
  readonly endpoint: Endpoint
  readonly clientId: Found
}

/**
 * Authenticates as a program with these variables does: flags are variables of one more environment.
 *
 * @throws {UsageError} for a file that cannot be used; it does not quote the file
 */
async function authenticate(
  { way, value, origin, isVariable }: Way,
  { flags, places, endpoint, clientId }: Client,
  { env }: CommandContext,
): Promise<{ readonly clientSecret?: Found; readonly clientAuthentication?: ClientAuthentication }> {
  // Only those who use it wait until it has loaded.
  const { clientAuthenticationFrom } = await import('@tokenwell/client-authentication')
  // The permissions of a file that is mounted into a container are not its user's.
  if (way === 'privateKey' && !isVariable) await readPrivateFile(value)
  const inherited = (name: string): string | undefined => (isVariable ? env[name] : undefined)
  const own: Readonly<Record<string, string | undefined>> = {
    [variables[endpoint.option][0]]: endpoint.value,
    [variables.clientId[0]]: clientId.value,
    [variables[way][0]]: value,
    [variables.keyId[0]]: flags.keyId ?? inherited(variables.keyId[0]),
    [variables.certificate[0]]: inherited(variables.certificate[0]),
    [variables.assertionAudience[0]]: find(places, 'assertionAudience')?.value,
  }
  const isOwn = new Set<string>(Object.values(variables).flat())
  try {
    const { algorithm } = flags
    const { clientSecret, clientAuthentication } = clientAuthenticationFrom(
      (name: string) => (isOwn.has(name) ? own[name] : env[name]),
      { algorithm },
    )
    await clientAuthentication?.fingerprint()
    if (typeof clientSecret === 'function')
      return { clientSecret: { value: await clientSecret(), origin: `${origin} (${value})` } }
    return { ...(clientAuthentication && { clientAuthentication }) }
  } catch (error) {
    if (!(error instanceof TokenError)) throw error
    throw new UsageError(nameOptions(error.message))
  }
}

async function identitySource(identity: Identity, audience: string) {
  const { azureIdentity, gcpIdentity, githubActionsIdentity } =
    await import('@tokenwell/client-authentication')
  const create = { azure: azureIdentity, gcp: gcpIdentity, 'github-actions': githubActionsIdentity }
  return create[identity]({ audience })
}

/** Platforms replace the file before the JWT expires. */
async function readAssertion(path: string): Promise<string> {
  return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`Could not read the assertion file ${path} (${error.code}).`)
  })
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
type Option = Exclude<keyof typeof variables, 'cacheKey'>
interface Found {
  readonly value: string
  readonly origin: string
}
type Place = Partial<Record<Option, Found | undefined>> & {
  /** Whether its credentials are called as the platform calls them. */
  readonly hasPlatformNames?: boolean
  readonly isEnvironment?: boolean
}

const credentialOptions = ['clientId', 'clientSecret', 'privateKey', 'assertionFile'] as const

/**
 * Precedence: flags, file, environment. The ID and the secret, key or assertion of a client come from one place, or from flags: those
 * of two clients are never mixed, and a URL beside the credentials of another client is that client's.
 */
async function placesOf(
  flags: ConnectionFlags,
  { env }: CommandContext,
): Promise<{ readonly places: readonly Place[]; readonly unused: readonly string[] }> {
  const { authUrl, tokenEndpoint, issuer, clientId, clientSecret, privateKey, assertionFile } = flags
  const given = (origin: string, value: string | undefined): Found | undefined =>
    value === undefined ? undefined : { value, origin }
  const flagged: Place = {
    authUrl: given('--auth-url', authUrl),
    tokenEndpoint: given('--token-endpoint', tokenEndpoint),
    issuer: given('--issuer', issuer),
    clientId: given('--client-id', clientId),
    clientSecret: given('--client-secret', clientSecret),
    privateKey: given('--private-key', privateKey),
    assertionFile: given('--assertion-file', assertionFile),
    identity: given('--identity', flags.identity),
    assertionAudience: given('--assertion-audience', flags.assertionAudience),
  }
  const read = flags.credentials === undefined ? undefined : await readCredentialsFile(flags.credentials)
  const file = read ? placeOf(read, (option) => `${option} in ${flags.credentials}`) : {}
  const environment: Place = {
    ...placeOf(
      (name) => env[name] || undefined,
      (_, name) => name,
    ),
    isEnvironment: true,
    assertionAudience: given('ASSERTION_AUDIENCE', env['ASSERTION_AUDIENCE'] || undefined),
    privateKey: given('PRIVATE_KEY_FILE', env['PRIVATE_KEY_FILE'] || undefined),
    assertionFile: given('ASSERTION_FILE', env['ASSERTION_FILE'] || undefined),
  }
  const owner = [file, environment].find(credentialIn)
  const isOfOther = (place: Place): boolean => {
    if (place !== owner) return credentialIn(place) !== undefined
    return clientId !== undefined && (place.clientId?.value ?? clientId) !== clientId
  }
  const others = [file, environment].filter(isOfOther)
  const places = [flagged, file, environment].filter((place) => !others.includes(place))
  const isPlatform = (findEndpoint(places)?.option ?? 'authUrl') === 'authUrl'
  const misnamed = places.filter(
    (place) => !isPlatform && place.hasPlatformNames && (place.clientId ?? place.clientSecret),
  )
  return {
    places: places.map((place) =>
      misnamed.includes(place) ? { ...place, clientId: undefined, clientSecret: undefined } : place,
    ),
    unused: [
      ...others.map(
        (place) => `${credentialIn(place)!.origin} is set for another client: nothing beside it is used.`,
      ),
      ...misnamed.map((place) => `${credentialIn(place)!.origin} is used with AUTH_URL only.`),
    ],
  }
}

/** @param originOf how a value is named in messages */
function placeOf(
  read: (variable: string) => string | undefined,
  originOf: (option: Option, variable: string) => string,
): Place {
  const { clientId, clientSecret } = variables
  const hasPlatformNames = !read(clientId[0]) && !read(clientSecret[0])
  const [idName, secretName] = hasPlatformNames
    ? [clientId[1], clientSecret[1]]
    : [clientId[0], clientSecret[0]]
  const own = (option: Option, variable: string): Found | undefined => {
    const value = read(variable)
    return value === undefined ? undefined : { value, origin: originOf(option, variable) }
  }
  return {
    authUrl: own('authUrl', variables.authUrl[0]),
    tokenEndpoint: own('tokenEndpoint', variables.tokenEndpoint[0]),
    issuer: own('issuer', variables.issuer[0]),
    clientId: own('clientId', idName),
    clientSecret: own('clientSecret', secretName),
    hasPlatformNames,
  }
}

/** Anything that says which client a place is about. */
function credentialIn(place: Place): Found | undefined {
  return credentialOptions.map((option) => place[option]).find(Boolean)
}

function find(places: readonly Place[], option: Option): Found | undefined {
  return places.map((place) => place[option]).find((found) => found !== undefined)
}

interface Endpoint extends Found {
  readonly option: EndpointOption
}

/** @throws {UsageError} if one place names two */
function findEndpoint(places: readonly Place[]): Endpoint | undefined {
  for (const place of places) {
    const [endpoint, other] = endpointOptions.flatMap((option) => {
      const found = place[option]
      return found ? [{ ...found, option }] : []
    })
    if (endpoint && other) throw exclusive(endpoint, other)
    if (endpoint) return endpoint
  }
  return undefined
}

function exclusive(one: Found, other: Found): UsageError {
  return new UsageError(`${one.origin} and ${other.origin} are mutually exclusive. Use one of them.`)
}
