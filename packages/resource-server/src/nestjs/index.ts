export { Public, RequireProducts, RequireScopes } from './requirements.ts'
export { ResourceServerModule } from './resource-server.module.ts'
export type {
  ResourceServerModuleExtras,
  ResourceServerModuleOptions,
} from './resource-server.module-definition.ts'
export { TokenGuard } from './token.guard.ts'
export { getTokenVerifierToken } from './tokens.ts'
export { VerifiedAccessToken } from './request-of.ts'
