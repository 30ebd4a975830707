export type { AccessToken } from './access-token.ts'
export type { AllowedOrigin } from './allowed-origins.ts'
export { backendTokens, type BackendTokensOptions } from './backend-tokens.ts'
export { buildTokenRequest, type TokenRequest } from './build-token-request.ts'
export { classifyApiResponse, type ApiResponseClassification } from './classify-api-response.ts'
export { clientCredentials, type ClientCredentialsOptions } from './client-credentials.ts'
export type { Clock } from './clock.ts'
export { createMemoryTokenStore } from './memory-token-store.ts'
export { parseTokenResponse, type ParsedTokenResponse } from './parse-token-response.ts'
export type { TokenProviderOptions } from './provider-settings.ts'
export { isRepeatableBody } from './repeatable-body.ts'
export type { ResponseHeaders } from './response-headers.ts'
export type { FetchLike } from './send-token-request.ts'
export {
  createTokenAttacher,
  type ApiResponse,
  type Attachment,
  type AttachOptions,
  type TokenAttacher,
} from './token-attacher.ts'
export { TokenError, type TokenErrorKind, type TokenFailure } from './token-error.ts'
export type { TokenEvent, TokenEventListener, TokenRequestReason } from './token-event.ts'
export { createTokenFetch, type TokenFetch, type TokenRequestInit } from './token-fetch.ts'
export { createTokenPool, type TokenPool, type TokenPoolOptions } from './token-pool.ts'
export { createTokenProvider, type GetTokenOptions, type TokenProvider } from './token-provider.ts'
export type { TokenResponse } from './token-response.ts'
export { tokenResponseBody } from './token-response-body.ts'
export type { TokenSource } from './token-source.ts'
export type { StoredHold, StoredToken, TokenLease, TokenStore } from './token-store.ts'
