export type { TokenProviderOptions } from './acquire/provider-options.ts'
export type { AllowedOrigin } from './attach/allowed-origins.ts'
export type { TokenFetchInit } from './attach/outgoing-request.ts'
export { isRepeatableBody } from './attach/replayable-body.ts'
export { createTokenAttacher } from './attach/create-token-attacher.ts'
export type {
  ApiResponse,
  Attachment,
  AttachOptions,
  AttachRequest,
  TokenAttacher,
} from './attach/token-attacher.ts'
export { createTokenFetch, fetchWithToken, type TokenFetch } from './attach/token-fetch.ts'
export type { Clock } from './platform/clock.ts'
export { notifyListener } from './platform/listeners.ts'
export {
  buildTokenRequest,
  type TokenRequest,
  type TokenRequestOptions,
} from './protocol/build-token-request.ts'
export { classifyApiResponse, type ApiResponseClassification } from './protocol/classify-api-response.ts'
export {
  createClientAuthentication,
  type ClientAuthentication,
  type ClientAuthenticationMethod,
  type ClientAuthenticationRequest,
} from './protocol/client-authentication.ts'
export { configurationError } from './protocol/configuration-error.ts'
export { headerValue, type ResponseHeaders } from './protocol/headers.ts'
export { retryAfter } from './protocol/retry-after.ts'
export type { ProvenRequest, TokenBinding, TokenEndpointResponse } from './protocol/token-binding.ts'
export {
  parseTokenResponse,
  type ParsedTokenResponse,
  type ParseTokenResponseOptions,
} from './protocol/parse-token-response.ts'
export { secureUrl } from './protocol/secure-url.ts'
export { isTokenError, TokenError, type TokenErrorKind, type TokenFailure } from './protocol/token-error.ts'
export type { TokenResponse } from './protocol/token-response.ts'
export { createTokenPool, type TokenPool, type TokenPoolOptions } from './provider/token-pool.ts'
export { createTokenProvider } from './provider/create-token-provider.ts'
export type { GetTokenOptions, TokenProvider } from './provider/token-provider.ts'
export { createMemoryTokenStore } from './acquire/sharing/memory-token-store.ts'
export { tokenSharing } from './acquire/sharing/token-sharing.ts'
export { backendTokens, type BackendTokensOptions, type HeadersInput } from './sources/backend-tokens.ts'
export { clientAssertion } from './sources/client-assertion.ts'
export { clientCredentials } from './sources/client-credentials.ts'
export type { ClientCredentialsOptions } from './sources/client-credentials-options.ts'
export { discover, type DiscoverOptions } from './sources/discover.ts'
export type { DiscoveredServer, Discovery } from './sources/discovered-server.ts'
export { readBody } from './sources/read-body.ts'
export type { FetchLike } from './sources/send-token-request.ts'
export type { AccessToken } from './tokens/access-token.ts'
export type {
  TokenEvent,
  TokenEventListener,
  TokenRequestReason,
  TokenWaitCause,
} from './tokens/token-event.ts'
export { tokenResponseBody } from './tokens/token-response-body.ts'
export type { TokenRequestContext, TokenSource } from './tokens/token-source.ts'
export type {
  StoredCooldown,
  StoredToken,
  TokenLease,
  TokenSharing,
  TokenStore,
} from './tokens/token-store.ts'
