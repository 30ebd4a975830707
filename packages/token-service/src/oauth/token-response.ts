import type { RegisteredClient } from '../storage/application.ts'
import type { TokenResponse } from './oauth-responses.ts'

export interface IssuedToken {
  readonly value: string
  readonly tokenType: 'Bearer' | 'DPoP'
  readonly scopes: readonly string[]
  readonly issuedAtMs: number
  readonly lifetimeSeconds: number
}

/**
 * The token response in the application's format. In the platform's formats, all values are strings, except the list of
 * products.
 */
export function createTokenResponse(
  token: IssuedToken,
  { application }: Pick<RegisteredClient, 'application'>,
): TokenResponse {
  const scope = token.scopes.join(' ')
  if (application.responseForm === 'rfc6749') {
    const standard = { access_token: token.value, token_type: token.tokenType }
    return { ...standard, expires_in: token.lifetimeSeconds, ...(scope && { scope }) }
  }
  const common = {
    access_token: token.value,
    token_type: token.tokenType,
    expires_in: String(token.lifetimeSeconds),
    issued_at: String(token.issuedAtMs),
    client_id: application.clientId,
    application_name: application.name,
    organization_name: application.organizationName,
    developer_email: application.developerEmail,
    status: 'approved' as const,
    scope,
    refresh_token_expires_in: '0' as const,
    refresh_count: '0' as const,
  }
  if (application.responseForm === 'refresh') {
    return { ...common, refresh_token: '', level: application.level }
  }
  return {
    ...common,
    api_product_list: `[${application.products.join(', ')}]`,
    api_product_list_json: application.products,
  }
}
