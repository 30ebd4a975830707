export { createTokenService, startTokenService } from './service/token-service.ts'

export type { RunningTokenService } from './service/running-token-service.ts'
export type { ApplicationStatus, ClaimPatterns, IdentityRule, ResponseForm } from './storage/application.ts'
export type { Clock } from './runtime/clock.ts'
export { UsageError } from './runtime/usage-error.ts'
export type { PublicKeyOptions } from './features/credentials/public-keys.ts'
export type {
  ApplicationOptions,
  OpenidProviderOptions,
  ProductOptions,
  ResourceServerOptions,
  ScopeOptions,
  TokenServiceOptions,
  TrustedIssuerOptions,
} from './service/token-service-options.ts'
