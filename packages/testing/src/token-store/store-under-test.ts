import type { TokenStore, TokenResponse } from '@tokenwell/core'
import type { TokenFailure } from '@tokenwell/core/protocol'
import type { TokenLease } from '@tokenwell/core/adapter'

/** One store and one key, as set up before each test. */
export interface StoreUnderTest {
  readonly read: () => ReturnType<TokenStore['read']>
  /** The stored token, or undefined. */
  readonly readToken: () => Promise<StoredToken | undefined>
  readonly remove: (id: string) => Promise<void>
  readonly tryLease: (ttlMs: number, slot?: 'fallback') => Promise<TokenLease | undefined>
  /** @throws if the lease is not available */
  readonly acquireLease: (ttlMs?: number) => Promise<TokenLease>
  readonly write: (token: string) => Promise<string>
  readonly passTime: (ms: number) => void | Promise<void>
}

type StoredToken = Extract<Awaited<ReturnType<TokenStore['read']>>, { readonly id: string }>

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
