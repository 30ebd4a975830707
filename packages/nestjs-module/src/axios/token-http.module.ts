import { Inject, Module, type InjectionToken, type OnApplicationBootstrap } from '@nestjs/common'
import { ModulesContainer } from '@nestjs/core'
import { checkDuplicateProviders } from '../check-duplicate-providers.ts'
import { ConfigurableModuleClass, HTTP_TOKEN } from './token-http.module-definition.ts'
import { warnOfConfiguredService } from './warn-of-configured-service.ts'
import { warnOfPlainService } from './warn-of-plain-service.ts'

/**
 * Provides an `HttpService` with its own axios instance, to which the tokens of a client are attached.
 *
 * @example
 * @Module({ imports: [TokenHttpModule.register({ client: 'billing', baseURL: 'https://api.example.com' })] })
 * class OrdersModule {}
 *
 * class OrdersService {
 *   constructor(@InjectTokenHttp('billing') private readonly http: HttpService) {}
 * }
 */
@Module({})
export class TokenHttpModule extends ConfigurableModuleClass implements OnApplicationBootstrap {
  readonly #modules: ModulesContainer

  constructor(
    @Inject(HTTP_TOKEN) token: InjectionToken,
    @Inject(ModulesContainer) modules: ModulesContainer,
  ) {
    super()
    this.#modules = modules
    checkDuplicateProviders(
      modules,
      TokenHttpModule,
      token,
      "Pass a different client or name to each TokenHttpModule, and inject its service with @InjectTokenHttp('name').",
    )
    if (typeof token === 'string') warnOfPlainService(modules, token)
  }

  onApplicationBootstrap(): void {
    warnOfConfiguredService(this.#modules)
  }
}
