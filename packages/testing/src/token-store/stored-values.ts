import type { TokenResponse } from '@tokenwell/core'
import type { TokenFailure } from '@tokenwell/core/protocol'

export const rejection: TokenFailure = {
  kind: 'credentials',
  message: 'The client is not known',
  status: 401,
  oauthError: 'invalid_client',
  failures: 3,
}

/** A token response with all members. */
export function responseWith(accessToken: string): TokenResponse {
  return {
    accessToken,
    tokenType: 'Bearer',
    expiresIn: 60,
    refreshIn: 45,
    issuedAt: new Date('2026-01-02T03:04:05.678Z'),
    scope: ['read', 'write'],
    clientId: 'a-client',
    applicationName: 'Jürgen’s “app” \u0000 🔑',
    organizationName: 'An organization',
    developerEmail: 'developer@example.com',
    status: 'approved',
    refreshToken: 'a-refresh-token',
    refreshTokenExpiresIn: 0,
    refreshCount: 0,
    level: '1',
    apiProducts: ['speech-to-text', 'translation'],
    extra: {
      instance_url: 'https://tenant.example.com',
      issuedAt: 'text',
      nested: { list: [1, null, true] },
    },
  }
}
