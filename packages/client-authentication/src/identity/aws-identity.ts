import { createIdentitySource, rejected, unavailable, type IdentitySource } from './identity-token.ts'

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

const name = 'the security token service of AWS'

/** What to do about the errors that it documents. */
const advice: Readonly<Record<string, string>> = {
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
    name,
    advice: 'Check the network and the region of the SDK.',
    prepare: () => ({
      key: audience,
      audience,
      async send(abortSignal) {
        const input = { Audience: [audience], SigningAlgorithm: algorithm }
        const response = await sts.getWebIdentityToken(input, { abortSignal }).catch((error: unknown) => {
          throw abortSignal.aborted ? error : explain(error)
        })
        return response.WebIdentityToken
      },
    }),
  })
}

/** The SDK's message may hold the name of a role and of an account. */
function explain(error: unknown): unknown {
  const { name: code, $metadata } = Object(error) as {
    name?: string
    $metadata?: { httpStatusCode?: number }
  }
  const status = $metadata?.httpStatusCode
  const known = advice[code ?? '']
  if (known !== undefined) return rejected(`${name} rejected the request (${code}). ${known}`)
  if (status === undefined) return error
  if (status >= 500 || status === 429 || /throttl/i.test(code ?? '')) {
    return unavailable(`${name} failed (status ${status}).`)
  }
  return rejected(`${name} rejected the request (${code}).`)
}
