export { TokenHttpModule } from './token-http.module.ts'
export type { TokenHttpModuleExtras, TokenHttpModuleOptions } from './token-http-module.definition.ts'
