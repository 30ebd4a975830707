import type { TokenVerificationFailure } from './token-verification-error.ts'

export interface ChallengeOptions {
  readonly realm: string
  /** URL of the API's metadata (RFC 9728, section 5.1). */
  readonly metadataUrl?: string | undefined
  /** Algorithms of proofs; undefined where DPoP is not advertised. */
  readonly dpopAlgorithms: readonly string[] | undefined
  readonly dpopRequired: boolean
}

/** The value of `WWW-Authenticate` (RFC 6750, section 3; RFC 9449, section 7.1). */
export function createChallenge(
  failure: TokenVerificationFailure,
  scheme: 'bearer' | 'dpop' | undefined,
  { realm, metadataUrl, dpopAlgorithms, dpopRequired }: ChallengeOptions,
): string | undefined {
  if (failure.code === 'unavailable') return undefined
  const reason =
    failure.code === 'missing_token'
      ? {}
      : { error: failure.code, error_description: failure.message.replace(/\.$/, '') }
  const scope = failure.scopes?.join(' ')
  const metadata = metadataUrl === undefined ? {} : { resource_metadata: metadataUrl }
  const bearer = { realm, ...reason, ...(scope && { scope }), ...metadata }
  const dpop = { algs: dpopAlgorithms?.join(' ') ?? '' }
  if (scheme === 'dpop') return challenge('DPoP', { ...bearer, ...(dpopAlgorithms && dpop) })
  if (dpopRequired && scheme === undefined) return challenge('DPoP', { ...bearer, ...dpop })
  return dpopAlgorithms
    ? `${challenge('Bearer', bearer)}, ${challenge('DPoP', { realm, ...dpop })}`
    : challenge('Bearer', bearer)
}

function challenge(scheme: string, parameters: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(parameters).map(([name, value]) => `${name}="${quotable(value)}"`)
  return `${scheme} ${pairs.join(', ')}`
}

/** Only characters that RFC 6750 allows in a description. */
function quotable(value: string): string {
  return value.replaceAll(/["\\]/g, "'").replaceAll(/[^\x20-\x7e]/g, '?')
}
