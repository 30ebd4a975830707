import { Inject, Module, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common'
import type { TokenProvider } from '@tokenwell/core'
import {
  ConfigurableModuleClass,
  TOKEN_MODULE_OPTIONS,
  OWN_TOKENS,
  type TokenModuleOptions,
} from './token-module.definition.ts'

/**
 * Provides one client's tokens: `forRoot` once for each client of the application.
 *
 * @example
 * @Module({ imports: [TokenModule.forRoot({ isGlobal: true, authUrl, clientId, clientSecret })] })
 */
@Module({})
export class TokenModule extends ConfigurableModuleClass implements OnModuleInit, OnApplicationShutdown {
  readonly #tokens: TokenProvider
  readonly #options: TokenModuleOptions

  constructor(
    @Inject(OWN_TOKENS) tokens: TokenProvider,
    @Inject(TOKEN_MODULE_OPTIONS) options: TokenModuleOptions,
  ) {
    super()
    this.#tokens = tokens
    this.#options = options
  }

  onModuleInit(): void {
    // Not waited for: an application starts without its token service, too.
    if (this.#options.eager === true) this.#tokens.getToken().catch(() => {})
  }

  async onApplicationShutdown(): Promise<void> {
    // A test's stand-in may have nothing to close.
    await this.#tokens.close?.()
  }
}
