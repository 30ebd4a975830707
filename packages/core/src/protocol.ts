export {
  buildTokenRequest,
  type TokenRequest,
  type TokenRequestOptions,
} from './protocol/build-token-request.ts'
export { classifyApiResponse, type ApiResponseClassification } from './attach/is-token-rejected.ts'
export {
  createClientAuthentication,
  type ClientAuthentication,
  type ClientAuthenticationMethod,
} from './protocol/client-authentication.ts'
export { configurationError } from './protocol/token-error.ts'
export { headerValue, type ResponseHeaders } from './protocol/headers.ts'
export {
  parseTokenResponse,
  type ParsedTokenResponse,
  type ParseTokenResponseOptions,
} from './protocol/parse-token-response.ts'
export { retryAfter } from './protocol/headers.ts'
export { decodePath, hasDotSegment, metadataUrl, secureUrl } from './protocol/secure-url.ts'
export type { TokenBinding, TokenEndpointResponse } from './protocol/token-binding.ts'
export type { TokenFailure } from './protocol/token-error.ts'
export type { TokenResponse } from './protocol/token-response.ts'
export { tokenResponseSchema, type Schema } from './protocol/token-response-schema.ts'
export { errorCode } from './runtime/error-code.ts'
export { notifyListener } from './runtime/listeners.ts'
export { noStore } from './runtime/environment.ts'
export {
  createIssuerDiscovery,
  type IssuerDiscovery,
  type IssuerDiscoveryOptions,
  type MetadataReader,
} from './sources/discovery.ts'
export { readBody } from './sources/send.ts'
