import { Module } from '@nestjs/common'
import { ConfigurableModuleClass } from './token-http-module.definition.ts'

/**
 * Provides an `HttpService` with its own axios instance, to which the tokens of a client are attached.
 *
 * @example
 * @Module({ imports: [TokenHttpModule.register({ baseURL: 'https://api.example.com' })] })
 */
@Module({})
export class TokenHttpModule extends ConfigurableModuleClass {}
