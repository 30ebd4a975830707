export { Public, RequireProducts, RequireScopes } from './requirements.decorators.ts'
export { ResourceServerModule } from './resource-server.module.ts'
export type {
  ResourceServerModuleExtras,
  ResourceServerModuleOptions,
} from './resource-server.module-definition.ts'
export { TokenGuard } from './token.guard.ts'
export { getTokenVerifierToken } from './token-verifier.token.ts'
export { VerifiedAccessToken } from './verified-access-token.decorator.ts'
