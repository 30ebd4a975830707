export type { DpopOptions } from './checks/dpop-proofs.ts'
export type { IntrospectionOptions } from './checks/introspection-check.ts'
export type { IssuerOptions } from './checks/jwt-check.ts'
export type {
  FindUser,
  RequiredClaims,
  RequireTokenOptions,
  TokenRequirements,
  VerifiedToken,
} from './checks/requirements.ts'
export type { VerifiedRequest } from './http/node-request.ts'
export type { RejectionReason } from './http/rejection-reason.ts'
export {
  TokenVerificationError,
  type TokenVerificationErrorCode,
  type TokenVerificationFailure,
} from './http/token-verification-error.ts'
export type { ResourceMetadata } from './verifier/resource-metadata.ts'
export { createTokenVerifier, type TokenVerifier, type VerifyOptions } from './verifier/token-verifier.ts'
export type {
  TokenVerifierOptions,
  VerificationEvent,
  VerificationEventListener,
} from './verifier/token-verifier-options.ts'
