import { Module } from '@nestjs/common'
import { ConfigurableModuleClass } from './token-http-module.definition.ts'

/**
 * An `HttpService` on an axios instance of its own, with a client's tokens attached.
 *
 * @example
 * @Module({ imports: [TokenHttpModule.register({ baseURL: 'https://api.example.com' })] })
 */
@Module({})
export class TokenHttpModule extends ConfigurableModuleClass {}
