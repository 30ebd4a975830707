import type { FetchLike } from '@tokenwell/core'
import { createHttpIdentitySource, type IdentitySource } from './identity-token.ts'

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
  const { audience = 'api://AzureADTokenExchange', managedIdentityClientId, fetch } = options
  return createHttpIdentitySource({
    name: 'the managed identity service of Azure',
    advice: 'Run this in Azure, where a managed identity is assigned.',
    fetch,
    prepare() {
      // App Service and Functions set both; machines have the metadata service at its fixed address.
      const { IDENTITY_ENDPOINT: endpoint, IDENTITY_HEADER: header } = process.env
      const isAppService = Boolean(endpoint && header)
      const url = new URL(isAppService ? endpoint! : 'http://169.254.169.254/metadata/identity/oauth2/token')
      url.searchParams.set('api-version', isAppService ? '2019-08-01' : '2018-02-01')
      url.searchParams.set('resource', audience)
      if (managedIdentityClientId !== undefined) url.searchParams.set('client_id', managedIdentityClientId)
      return { url, headers: isAppService ? { 'x-identity-header': header! } : { metadata: 'true' } }
    },
    // Its audience may be the ID of the application instead of its URI, so that it is not compared.
    read: (text) => (JSON.parse(text) as { access_token?: unknown }).access_token,
  })
}
