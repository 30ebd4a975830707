export type { VerifiedRequest } from './binding/verified-request.ts'
export type { RequireTokenOptions } from './node/node-request.ts'
export type { TokenRequirements } from './requirements/find-insufficient-scope.ts'
export {
  TokenVerificationError,
  type TokenVerificationErrorCode,
  type TokenVerificationFailure,
} from './rejection/token-verification-error.ts'
export { createTokenVerifier, type TokenVerifier, type VerifyOptions } from './verifier/token-verifier.ts'
export type { ResourceMetadata } from './metadata/resource-metadata.ts'
export type {
  DpopOptions,
  IntrospectionOptions,
  IssuerOptions,
  TokenVerifierOptions,
} from './options/token-verifier-options.ts'
export type { VerificationEvent, VerificationEventListener } from './options/verification-event.ts'
export type { VerifiedToken } from './requirements/verified-token.ts'
