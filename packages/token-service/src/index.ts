export { createTokenService } from './service/create-token-service.ts'
export { startTokenService } from './service/start-token-service.ts'

export type { RunningTokenService } from './service/running-token-service.ts'
export type { ApplicationStatus, ClaimPatterns, IdentityRule, ResponseForm } from './storage/application.ts'
export type { Clock } from './runtime/clock.ts'
export { UsageError } from './runtime/usage-error.ts'
export type {
  ApplicationOptions,
  ResourceServerOptions,
  ProductOptions,
  ScopeOptions,
  TrustedIssuerOptions,
} from './features/applications/options.ts'
export type { PublicKeyOptions } from './features/credentials/public-keys.ts'
export type { OpenidProviderOptions, TokenServiceOptions } from './service/token-service-options.ts'
