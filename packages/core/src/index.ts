export type { AccessToken } from './tokens/access-token.ts'
export type { AllowedOrigin } from './attach/allowed-origins.ts'
export { backendTokens, type BackendTokensOptions } from './sources/backend-tokens.ts'
export { buildTokenRequest, type TokenRequest } from './protocol/build-token-request.ts'
export { classifyApiResponse, type ApiResponseClassification } from './protocol/classify-api-response.ts'
export { clientCredentials, type ClientCredentialsOptions } from './sources/client-credentials.ts'
export type { Clock } from './platform/clock.ts'
export { createMemoryTokenStore } from './tokens/memory-token-store.ts'
export { readBody } from './sources/read-body.ts'
export { parseTokenResponse, type ParsedTokenResponse } from './protocol/parse-token-response.ts'
export type { TokenProviderOptions } from './acquire/provider-options.ts'
export { isRepeatableBody } from './attach/repeatable-body.ts'
export { retryAfter, type ResponseHeaders } from './protocol/headers.ts'
export { secureUrl } from './protocol/secure-url.ts'
export type { FetchLike } from './sources/send-token-request.ts'
export {
  createTokenAttacher,
  type ApiResponse,
  type Attachment,
  type AttachOptions,
  type TokenAttacher,
} from './attach/token-attacher.ts'
export { configurationError } from './protocol/secure-url.ts'
export { TokenError, type TokenErrorKind, type TokenFailure } from './protocol/token-error.ts'
export type { TokenEvent, TokenEventListener, TokenRequestReason } from './tokens/token-event.ts'
export { createTokenFetch, type TokenFetch, type TokenRequestInit } from './attach/token-fetch.ts'
export { createTokenPool, type TokenPool, type TokenPoolOptions } from './provider/token-pool.ts'
export { createTokenProvider, type GetTokenOptions, type TokenProvider } from './provider/token-provider.ts'
export type { TokenResponse } from './protocol/token-response.ts'
export { tokenResponseBody } from './tokens/token-response-body.ts'
export type { TokenSource } from './tokens/token-source.ts'
export type { StoredCooldown, StoredToken, TokenLease, TokenStore } from './tokens/token-store.ts'
