import { UsageError } from '../../runtime/usage-error.ts'
import { configuredKeys, type PublicKeyOptions } from '../credentials/public-keys.ts'
import type {
  ApplicationStatus,
  DpopUse,
  IdentityRule,
  ResponseForm,
  TokenFormat,
} from '../../storage/application.ts'

/** How long tokens last unless an application has another lifetime. */
export const defaultLifetimeSeconds = 3600

/** An application that is created when the service starts. */
export interface ApplicationOptions extends PublicKeyOptions {
  readonly name: string
  readonly clientId: string
  /** Required without a public key. */
  readonly clientSecret?: string | undefined
  /** When `clientSecret` expires, as an ISO 8601 date. @default never */
  readonly clientSecretExpiresAt?: string | undefined
  /** The API products that its tokens are valid for. @default [] */
  readonly products?: readonly string[] | undefined
  /** The scopes that its tokens can have (RFC 6749, section 3.3); a request can narrow them. @default [] */
  readonly scopes?: readonly string[] | undefined
  /** @default '' */
  readonly level?: string | undefined
  /** The format of its token responses. @default 'products' */
  readonly responseForm?: ResponseForm | undefined
  /** The lifetime of its tokens in seconds. @default 3600 */
  readonly lifetimeSeconds?: number | undefined
  /** `jwt`: access tokens that APIs verify themselves (RFC 9068); requires `audiences`. @default 'opaque' */
  readonly tokenFormat?: TokenFormat | undefined
  /**
   * Whether its tokens are bound to a key of the client (RFC 9449): never, if a token request has a DPoP proof, or always.
   * @default 'allowed'
   */
  readonly dpop?: DpopUse | undefined
  /** The APIs that its tokens are for (`aud`); a request can narrow them with `resource` (RFC 8707). @default [] */
  readonly audiences?: readonly string[] | undefined
  /** Further claims of its JWTs, such as `{ tenant: 'a' }`. @default {} */
  readonly claims?: Readonly<Record<string, unknown>> | undefined
  /** Tokens are issued only to approved applications. @default 'approved' */
  readonly status?: ApplicationStatus | undefined
  /** Its project, which is created if it does not exist. @default 'default' */
  readonly project?: string | undefined
  /** The organisation of the project, if it is created. @default 'example-org' */
  readonly organizationName?: string | undefined
  /** The developer email of the project, if it is created. @default 'developer@example.com' */
  readonly developerEmail?: string | undefined
}

/** An API that may introspect tokens. It is registered when the service starts. */
export interface ResourceServerOptions extends PublicKeyOptions {
  readonly clientId: string
  /** Required without a public key. */
  readonly clientSecret?: string | undefined
  /** @default its client ID */
  readonly name?: string | undefined
  /** Tokens for other APIs (`aud`) are inactive for it. @default it may introspect every token */
  readonly audiences?: readonly string[] | undefined
}

/** An API product of the catalogue. */
export interface ProductOptions {
  readonly name: string
  /** For the developers who choose products. */
  readonly description?: string | undefined
}

/** A scope of the catalogue, and the API that it belongs to. */
export interface ScopeOptions {
  readonly name: string
  /** The `aud` of the tokens that may have it. @default those of every API */
  readonly audience?: string | undefined
  /** For the developers who choose scopes. */
  readonly description?: string | undefined
}

/** An issuer whose JWTs are exchanged for access tokens. In the configuration alone; others are added over HTTP. */
export interface TrustedIssuerOptions {
  /** The `iss` of its JWTs, character by character. */
  readonly issuer: string
  /** The https URL of its JWK set. @default the one in its metadata (RFC 8414, or OpenID Connect Discovery) */
  readonly jwksUrl?: string | undefined
  /** The `aud` of its JWTs. @default the issuer or the token endpoint of this service */
  readonly audiences?: readonly string[] | undefined
  /** Accepts each JWT once, by its `jti`. Kubernetes and Google Cloud send one JWT repeatedly. @default false */
  readonly detectReplay?: boolean | undefined
  /** Which application a JWT stands for: exactly one must be found. */
  readonly rules: readonly IdentityRule[]
}

/** What of an application is set after defaults. */
type Defaulted =
  | 'products'
  | 'scopes'
  | 'level'
  | 'responseForm'
  | 'lifetimeSeconds'
  | 'tokenFormat'
  | 'audiences'
  | 'dpop'
  | 'claims'
  | 'status'
  | 'project'
  | 'organizationName'
  | 'developerEmail'

export type ResolvedApplication = ApplicationOptions & {
  readonly [Field in Defaulted]: NonNullable<ApplicationOptions[Field]>
}

export const responseForms = ['products', 'refresh', 'rfc6749'] as const

export const tokenFormats = ['opaque', 'jwt'] as const

export const dpopUses = ['none', 'allowed', 'required'] as const

/** An absolute URI (RFC 8707, section 2), or a name without spaces. */
export const audiencePattern = /^[\x21\x23-\x5b\x5d-\x7e]{1,500}$/

/** The claims that the service sets, and those that mean something else in other tokens. */
export const reservedClaims = [
  'iss',
  'sub',
  'aud',
  'exp',
  'nbf',
  'iat',
  'jti',
  'client_id',
  'scope',
  'scp',
  'api_products',
  'cnf',
  'act',
  'may_act',
]

/** Token responses list products as `[a, b]`: names cannot contain commas or brackets. */
export const productNamePattern = /^[^,[\]\s](?:[^,[\]]*[^,[\]\s])?$/

/** RFC 6749, section 3.3. */
export const scopePattern = /^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/

/** @throws {@link UsageError} if two entries of a setting have the same client ID */
export function rejectDuplicates(setting: string, clients: readonly { readonly clientId: string }[]): void {
  const clientIds = clients.map(({ clientId }) => clientId)
  const duplicate = clientIds.find((clientId, index) => clientIds.indexOf(clientId) !== index)
  if (duplicate !== undefined)
    throw new UsageError(`${setting} contains the client ID "${duplicate}" twice. Remove one of the entries.`)
}

/** @throws {@link UsageError} if a client has no credentials, or a public key cannot be used */
export function rejectWithoutCredentials(
  setting: string,
  clients: readonly (PublicKeyOptions & {
    readonly clientId: string
    readonly clientSecret?: string | undefined
  })[],
): void {
  for (const client of clients) {
    if (keysOf(setting, client).length > 0 || client.clientSecret !== undefined) continue
    throw new UsageError(
      `"${client.clientId}" in ${setting} has neither a clientSecret nor a public key. Add one of them.`,
    )
  }
}

function keysOf(setting: string, client: PublicKeyOptions & { readonly clientId: string }) {
  try {
    return configuredKeys(client, 0)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    throw new UsageError(`"${client.clientId}" in ${setting} has no usable public key. ${error.message}`)
  }
}

/** @throws {@link UsageError} if a product has a name that a token response cannot list */
export function rejectInvalidProducts(
  applications: readonly { readonly clientId: string; readonly products: readonly string[] }[],
): void {
  for (const { clientId, products } of applications) {
    const invalid = products.find((product) => !productNamePattern.test(product))
    if (invalid === undefined) continue
    throw new UsageError(
      `"${clientId}" in applications has the product "${invalid}", whose name must not contain commas or brackets, or start or end with a space.`,
    )
  }
}

/** Whether an application would get JWTs for no API. */
export function lacksAudience({
  tokenFormat,
  audiences,
}: Pick<ResolvedApplication, 'tokenFormat' | 'audiences'>): boolean {
  return tokenFormat === 'jwt' && audiences.length === 0
}

/** @throws {@link UsageError} if an application {@link lacksAudience} */
export function rejectWithoutAudience(
  applications: readonly Pick<ResolvedApplication, 'clientId' | 'tokenFormat' | 'audiences'>[],
): void {
  const wrong = applications.find(lacksAudience)
  if (wrong)
    throw new UsageError(
      `"${wrong.clientId}" in applications has the token format jwt without audiences. Add the API that its tokens are for.`,
    )
}

const minSecretLength = 16

/** @throws {@link UsageError} if a secret is short enough to be guessed */
export function rejectWeakSecrets(
  setting: string,
  clients: readonly { readonly clientId: string; readonly clientSecret?: string | undefined }[],
): void {
  const weak = clients.find(
    ({ clientSecret }) => clientSecret !== undefined && clientSecret.length < minSecretLength,
  )
  if (weak) {
    throw new UsageError(
      `The secret of "${weak.clientId}" in ${setting} is too short. Use ${minSecretLength} or more random characters; only memory storage allows fewer.`,
    )
  }
}
