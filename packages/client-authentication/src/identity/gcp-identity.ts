import type { FetchLike } from '@tokenwell/core'
import { createHttpIdentitySource, type IdentitySource } from './identity-token.ts'

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
