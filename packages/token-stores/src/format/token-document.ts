import type { TokenResponse } from '@tokenwell/core'
import { parseTokenResponse } from '@tokenwell/core/protocol'

/** Writes a token response in the format of a token endpoint, so that the same strict rules apply when it is read. */
export function writeTokenDocument(response: TokenResponse): string {
  return JSON.stringify({
    ...response.extra,
    access_token: response.accessToken,
    token_type: response.tokenType,
    expires_in: response.expiresIn,
    refresh_in: response.refreshIn,
    issued_at: response.issuedAt?.getTime(),
    scope: response.scope,
    client_id: response.clientId,
    application_name: response.applicationName,
    organization_name: response.organizationName,
    developer_email: response.developerEmail,
    status: response.status,
    refresh_token: response.refreshToken,
    refresh_token_expires_in: response.refreshTokenExpiresIn,
    refresh_count: response.refreshCount,
    level: response.level,
    api_product_list_json: response.apiProducts,
  })
}

/** @throws {TokenError} for an invalid document */
export function readTokenDocument(text: string): TokenResponse {
  const { raw: _raw, ...response } = parseTokenResponse(200, {}, text)
  return response
}
