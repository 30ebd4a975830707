export { InjectTokenProvider } from './inject-token-provider.ts'
export { TokenModule } from './token.module.ts'
export type { TokenModuleExtras, TokenModuleOptions } from './token-module.definition.ts'
export { getTokenProviderToken } from './token-provider.token.ts'
