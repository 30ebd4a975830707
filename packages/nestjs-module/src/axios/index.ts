export { InjectTokenHttp } from './token-http.token.ts'
export { TokenHttpModule } from './token-http.module.ts'
export { getTokenHttpToken } from './token-http.token.ts'
export type { TokenHttpModuleExtras, TokenHttpModuleOptions } from './token-http.module-definition.ts'
