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
export { configurationError } from './protocol/token-error.ts'
export { headerValue, type ResponseHeaders } from './protocol/headers.ts'
export {
  parseTokenResponse,
  type ParsedTokenResponse,
  type ParseTokenResponseOptions,
} from './protocol/parse-token-response.ts'
export { retryAfter } from './protocol/headers.ts'
export { secureUrl } from './protocol/secure-url.ts'
export type { ProvenRequest, TokenBinding, TokenEndpointResponse } from './protocol/token-binding.ts'
export type { TokenFailure } from './protocol/token-error.ts'
export { tokenResponseSchema, type Schema, type TokenResponse } from './protocol/token-response.ts'
export { errorCode } from './runtime/error-code.ts'
export { notifyListener } from './runtime/listeners.ts'
export { noStore } from './runtime/environment.ts'
export {
  createGrantSource,
  type Grant,
  type GrantParameters,
  type GrantRequest,
} from './sources/grant-source.ts'
export {
  createIssuerDiscovery,
  type IssuerDiscovery,
  type IssuerDiscoveryOptions,
  type MetadataReader,
} from './sources/discovery.ts'
export { readBody } from './sources/send.ts'
export type { TokenEndpointOptions } from './sources/client.ts'
