export {
  OptionalToken,
  Public,
  RequireProducts,
  RequireScopes,
  Require,
  VerifiedAccessToken,
} from './decorators.ts'
export {
  ResourceServerModule,
  type ResourceServerModuleExtras,
  type ResourceServerModuleOptions,
} from './resource-server.module.ts'
export { getTokenVerifierToken, TokenGuard } from './token.guard.ts'
