import type { FetchLike } from '@tokenwell/core'
import { configurationError } from '@tokenwell/core/protocol'
import {
  createHttpIdentitySource,
  createIdentitySource,
  rejected,
  unavailable,
  urlIn,
  type IdentitySource,
} from './identity-source.ts'

/** Returns the value of an environment variable, or an empty text. */
export type ReadVariable = (name: string) => string
const readProcess: ReadVariable = (name) => process.env[name] ?? ''

export interface AzureIdentityOptions {
  /** Application ID URI that the JWT is for. @default 'api://AzureADTokenExchange' */
  readonly audience?: string | undefined
  /** Client ID of a user-assigned managed identity. @default the system-assigned one */
  readonly managedIdentityClientId?: string | undefined
  readonly fetch?: FetchLike | undefined
}

/**
 * The managed identity of a machine, App Service or function in Azure. In Kubernetes with workload identity, use
 * `assertionFromFile(process.env.AZURE_FEDERATED_TOKEN_FILE)`.
 *
 * @example
 * clientCredentials({ tokenEndpoint, clientId, clientAuthentication: clientAssertion(azureIdentity()) })
 */
export function azureIdentity(options: AzureIdentityOptions = {}): IdentitySource {
  return azureIdentityIn(readProcess, options)
}

/** @param read the variables that Azure sets */
export function azureIdentityIn(read: ReadVariable, options: AzureIdentityOptions): IdentitySource {
  const { audience = 'api://AzureADTokenExchange', managedIdentityClientId, fetch } = options
  return createHttpIdentitySource({
    name: 'the managed identity service of Azure',
    advice: 'Run this in Azure, where a managed identity is assigned.',
    fetch,
    audience,
    allowsApplicationId: true,
    prepare() {
      // App Service and Functions set both; machines have the metadata service at its fixed address.
      const [endpoint, header] = [read('IDENTITY_ENDPOINT'), read('IDENTITY_HEADER')]
      const isAppService = endpoint !== '' && header !== ''
      const url = isAppService
        ? urlIn('IDENTITY_ENDPOINT', endpoint)
        : new URL('http://169.254.169.254/metadata/identity/oauth2/token')
      url.searchParams.set('api-version', isAppService ? '2019-08-01' : '2018-02-01')
      url.searchParams.set('resource', audience)
      if (managedIdentityClientId !== undefined) url.searchParams.set('client_id', managedIdentityClientId)
      const headers: Record<string, string> = isAppService
        ? { 'x-identity-header': header }
        : { metadata: 'true' }
      return { url, headers }
    },
    read: (text) => (JSON.parse(text) as { access_token?: unknown }).access_token,
  })
}

export interface GcpIdentityOptions {
  /** The `aud` of the JWT, which the token endpoint expects. */
  readonly audience: string
  /** E-mail address of a service account of this machine. @default its default service account */
  readonly serviceAccount?: string | undefined
  readonly fetch?: FetchLike | undefined
}

/**
 * The identity of the service account of a machine, container or function in Google Cloud, from its metadata server.
 *
 * @example
 * clientCredentials({ tokenEndpoint, clientId, clientAuthentication: clientAssertion(gcpIdentity({ audience })) })
 */
export function gcpIdentity({
  audience,
  serviceAccount = 'default',
  fetch,
}: GcpIdentityOptions): IdentitySource {
  return createHttpIdentitySource({
    name: 'the metadata server of Google Cloud',
    advice: 'Run this in Google Cloud, on a machine with a service account.',
    fetch,
    audience,
    prepare() {
      const account = encodeURIComponent(serviceAccount)
      const url = new URL(
        `http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/${account}/identity`,
      )
      url.searchParams.set('audience', audience)
      url.searchParams.set('format', 'full')
      return { url, headers: { 'metadata-flavor': 'Google' } }
    },
    // Another server of that name does not send it.
    read: (text, headers) => (headers.get('metadata-flavor') === 'Google' ? text.trim() : undefined),
  })
}

export interface GithubActionsIdentityOptions {
  /** The `aud` of the JWT, which the token endpoint expects. */
  readonly audience: string
  readonly fetch?: FetchLike | undefined
}

/**
 * The identity of a job in GitHub Actions, whose workflow needs the permission `id-token: write`.
 *
 * @example
 * clientCredentials({ tokenEndpoint, clientId, clientAuthentication: clientAssertion(githubActionsIdentity({ audience })) })
 */
export function githubActionsIdentity(options: GithubActionsIdentityOptions): IdentitySource {
  return githubActionsIdentityIn(readProcess, options)
}

/** @param read the variables that GitHub Actions sets */
export function githubActionsIdentityIn(
  read: ReadVariable,
  { audience, fetch }: GithubActionsIdentityOptions,
): IdentitySource {
  return createHttpIdentitySource({
    name: 'the identity service of GitHub Actions',
    advice: 'Give the job the permission id-token: write.',
    fetch,
    audience,
    prepare() {
      const urlVariable = 'ACTIONS_ID_TOKEN_REQUEST_URL'
      const tokenVariable = 'ACTIONS_ID_TOKEN_REQUEST_TOKEN'
      const missing = [urlVariable, tokenVariable].find((name) => read(name) === '')
      if (missing !== undefined) {
        throw configurationError(
          `${missing} is not set. Run this in GitHub Actions, in a job with the permission id-token: write.`,
        )
      }
      const url = urlIn(urlVariable, read(urlVariable))
      url.searchParams.set('audience', audience)
      return { url, headers: { authorization: `Bearer ${read(tokenVariable)}` } }
    },
    read: (text) => (JSON.parse(text) as { value?: unknown }).value,
  })
}

export interface AwsIdentityOptions {
  /** The `aud` of the JWT, which the token endpoint expects. */
  readonly audience: string
  /** A client of the AWS SDK, `new STS()`: it has the credentials and the region, and signs the request. */
  readonly sts: {
    getWebIdentityToken(
      input: { Audience: string[]; SigningAlgorithm: string },
      options: { abortSignal: AbortSignal },
    ): Promise<{ WebIdentityToken?: string | undefined }>
  }
  /** Signature algorithm of the JWT. @default 'ES384' */
  readonly algorithm?: 'ES384' | 'RS256' | undefined
}

const aws = 'the security token service of AWS'

/** What to do about the errors that it documents. */
const awsAdvice: Readonly<Record<string, string>> = {
  OutboundWebIdentityFederationDisabledException:
    'Enable outbound identity federation for this account, in the settings of IAM.',
  AccessDenied: 'Allow the role of this machine the action sts:GetWebIdentityToken.',
  AccessDeniedException: 'Allow the role of this machine the action sts:GetWebIdentityToken.',
  CredentialsProviderError: 'Run this in AWS, with a role, or configure credentials of the SDK.',
  ExpiredTokenException: 'Renew the credentials of the SDK.',
  InvalidClientTokenId: 'Check the credentials of the SDK.',
  SignatureDoesNotMatch: 'Check the credentials of the SDK.',
}

/**
 * The identity of a machine, container or function in AWS, from its security token service (`GetWebIdentityToken`).
 *
 * @example
 * import { STS } from '@aws-sdk/client-sts'
 *
 * const identity = awsIdentity({ audience, sts: new STS({ region: 'eu-central-1' }) })
 * clientCredentials({ tokenEndpoint, clientId, clientAuthentication: clientAssertion(identity) })
 */
export function awsIdentity({ audience, sts, algorithm = 'ES384' }: AwsIdentityOptions): IdentitySource {
  return createIdentitySource({
    name: aws,
    advice: 'Check the network and the region of the SDK.',
    prepare: () => ({
      key: audience,
      audience,
      async send(abortSignal) {
        const input = { Audience: [audience], SigningAlgorithm: algorithm }
        const response = await sts.getWebIdentityToken(input, { abortSignal }).catch((error: unknown) => {
          throw abortSignal.aborted ? error : explainAwsError(error)
        })
        return response.WebIdentityToken
      },
    }),
  })
}

/** The SDK's message may hold the name of a role and of an account. */
function explainAwsError(error: unknown): unknown {
  const { name: code, $metadata } = Object(error) as {
    name?: string
    $metadata?: { httpStatusCode?: number }
  }
  const status = $metadata?.httpStatusCode
  const known = awsAdvice[code ?? '']
  if (known !== undefined) return rejected(`${aws} rejected the request (${code}). ${known}`)
  if (status === undefined) return error
  if (status >= 500 || status === 429 || /throttl/i.test(code ?? '')) {
    return unavailable(`${aws} failed (status ${status}).`)
  }
  return rejected(`${aws} rejected the request (${code}).`)
}
