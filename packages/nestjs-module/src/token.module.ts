import { Inject, Module, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common'
import { ModulesContainer } from '@nestjs/core'
import type { TokenProvider } from '@tokenwell/core'
import { checkDuplicateProviders } from './check-duplicate-providers.ts'
import type { TokenModuleOptions } from './create-client-token-provider.ts'
import {
  ConfigurableModuleClass,
  MODULE_TOKEN,
  MODULE_TOKEN_PROVIDER,
  TOKEN_MODULE_OPTIONS,
} from './token.module-definition.ts'

/**
 * Provides the tokens of one client: call `forRoot` once for each client of the application.
 *
 * @example
 * @Module({ imports: [TokenModule.forRoot({ isGlobal: true, authUrl, clientId, clientSecret })] })
 */
// Its providers are declared in token.module-definition.ts.
@Module({})
export class TokenModule extends ConfigurableModuleClass implements OnModuleInit, OnApplicationShutdown {
  readonly #tokens: TokenProvider
  readonly #options: TokenModuleOptions

  constructor(
    @Inject(MODULE_TOKEN_PROVIDER) tokens: TokenProvider,
    @Inject(TOKEN_MODULE_OPTIONS) options: TokenModuleOptions,
    @Inject(MODULE_TOKEN) token: string,
    @Inject(ModulesContainer) modules: ModulesContainer,
  ) {
    super()
    this.#tokens = tokens
    this.#options = options
    checkDuplicateProviders(
      modules,
      TokenModule,
      token,
      "Pass a different name to each TokenModule.forRoot(), and inject it with @InjectTokens('name').",
    )
  }

  onModuleInit(): void {
    // Not awaited, so that the application starts even while the token service is down.
    if (this.#options.eager === true) this.#tokens.getToken().catch(() => {})
  }

  async onApplicationShutdown(): Promise<void> {
    // A test double may have no close().
    await this.#tokens.close?.()
  }
}
