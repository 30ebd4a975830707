// In the order in which a reader needs them: get tokens, attach them, share and observe them, and what can fail.
export { credentialsFrom, type CredentialsFromOptions } from './sources/credentials-from.ts'
export { fromOpenApi, type FromOpenApiOptions } from './sources/from-open-api.ts'
export {
  clientCredentials,
  clientCredentialsForResource,
  jwtBearer,
  tokenExchange,
  clientAssertion,
  type ClientCredentialsOptions,
  type JwtBearerOptions,
  type Proof,
  type ProofSource,
  type ResourceClientCredentialsOptions,
  type ResourceJwtBearerOptions,
  type TokenExchangeOptions,
} from './sources/grants.ts'
export type { Resolvable } from './sources/client.ts'
export type {
  ClientAuthentication,
  ClientAuthenticationMethod,
  ClientAuthenticationRequest,
} from './protocol/client-authentication.ts'
export type { ProvenRequest, TokenBinding } from './protocol/token-binding.ts'
export type { FetchLike } from './sources/send.ts'
export type {
  CloseOptions,
  GetTokenOptions,
  TokenProvider,
  TokenProviderOptions,
} from './provider/token-provider.ts'
export { tokenResponseBody, type AccessToken } from './provider/access-token.ts'
export type { TokenResponse } from './protocol/token-response.ts'

export { createTokenFetch, type TokenFetch, type TokenFetchOptions } from './attach/fetch.ts'
export type { TokenFetchInit } from './attach/fetch-arguments.ts'
export type { AttachableTokens, AttachOptions } from './attach/token-attacher.ts'
export type { AllowedOrigin } from './attach/origins.ts'
export type { ApiResponse } from './attach/is-token-rejected.ts'

export { backendTokens, isRejectedByPage, type BackendTokensOptions } from './sources/backend-tokens.ts'
export { createTokenPool, type TokenPool, type TokenPoolOptions } from './provider/token-pool.ts'
export { createTokenProvider } from './provider/caching-token-provider.ts'
export type { TokenRequestContext, TokenSource } from './protocol/token-source.ts'
export { createMemoryTokenStore } from './sharing/memory-token-store.ts'
export type { TokenStore } from './sharing/token-store.ts'
export type { TokenEvent, TokenEventListener } from './provider/events.ts'
export type { Clock } from './runtime/clock.ts'

export { isTokenError, TokenError, type TokenErrorKind } from './protocol/token-error.ts'
