import type { FetchLike } from '@tokenwell/core'
import { configurationError } from '@tokenwell/core/protocol'
import { createHttpIdentitySource, type IdentitySource } from './identity-token.ts'

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
export function githubActionsIdentity({ audience, fetch }: GithubActionsIdentityOptions): IdentitySource {
  return createHttpIdentitySource({
    name: 'the identity service of GitHub Actions',
    advice: 'Give the job the permission id-token: write.',
    fetch,
    audience,
    prepare() {
      const url = new URL(variable('ACTIONS_ID_TOKEN_REQUEST_URL'))
      url.searchParams.set('audience', audience)
      return { url, headers: { authorization: `Bearer ${variable('ACTIONS_ID_TOKEN_REQUEST_TOKEN')}` } }
    },
    read: (text) => (JSON.parse(text) as { value?: unknown }).value,
  })
}

function variable(name: string): string {
  const value = process.env[name]
  if (value) return value
  throw configurationError(
    `${name} is not set. Run this in GitHub Actions, in a job with the permission id-token: write.`,
  )
}
