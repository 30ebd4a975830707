export { createTokenService } from './create-token-service.ts'
export { startTokenService, type RunningTokenService } from './start-token-service.ts'
export type { Clock } from './clock.ts'
export type { ApplicationStatus, ResponseForm } from './applications/application.ts'
export type {
  ApplicationOptions,
  ResourceServerOptions,
  TokenServiceOptions,
} from './token-service-options.ts'
