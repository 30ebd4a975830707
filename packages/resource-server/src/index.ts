export type { VerifiedRequest } from './binding/verified-request.ts'
export type { RequireTokenOptions } from './node-request.ts'
export type { TokenRequirements } from './token-requirements.ts'
export {
  TokenVerificationError,
  type TokenVerificationErrorCode,
  type TokenVerificationFailure,
} from './token-verification-error.ts'
export { createTokenVerifier, type TokenVerifier, type VerifyOptions } from './token-verifier.ts'
export type { DpopOptions, IntrospectionOptions, TokenVerifierOptions } from './token-verifier-options.ts'
export type { VerificationEvent, VerificationEventListener } from './verification-event.ts'
export type { VerifiedToken } from './verified-token.ts'
