export { createMemoryTokenStore } from './sharing/memory-token-store.ts'
export type { TokenStore } from './sharing/token-store.ts'
export type { ApiResponse } from './attach/is-token-rejected.ts'
export type { AttachableTokens, AttachOptions } from './attach/token-attacher.ts'
export { createTokenFetch, type TokenFetch, type TokenFetchOptions } from './attach/fetch.ts'
export type { ClientAuthentication, ClientAuthenticationMethod } from './protocol/client-authentication.ts'
export type { TokenBinding } from './protocol/token-binding.ts'
export { isTokenError, TokenError, type TokenErrorKind } from './protocol/token-error.ts'
export type { TokenResponse } from './protocol/token-response.ts'
export { createTokenProvider } from './provider/caching-token-provider.ts'
export { createTokenPool, type TokenPool, type TokenPoolOptions } from './provider/token-pool.ts'
export type { GetTokenOptions, TokenProvider, TokenProviderOptions } from './provider/token-provider.ts'
export type { Clock } from './runtime/clock.ts'
export { backendTokens, isRejectedByPage, type BackendTokensOptions } from './sources/backend-tokens.ts'
export { credentialsFrom } from './sources/credentials-from.ts'
export { fromOpenApi, type FromOpenApiOptions } from './sources/from-open-api.ts'
export {
  clientAssertion,
  clientCredentials,
  clientCredentialsForResource,
  jwtBearer,
  tokenExchange,
  type ClientCredentialsOptions,
  type JwtBearerOptions,
  type TokenExchangeOptions,
} from './sources/grants.ts'
export type { FetchLike } from './sources/send.ts'
export { tokenResponseBody, type AccessToken } from './provider/access-token.ts'
export type { TokenEvent, TokenEventListener } from './provider/events.ts'
export type { TokenRequestContext, TokenSource } from './protocol/token-source.ts'
