import { ConfigurableModuleBuilder, Inject, Injectable, Module, type OnModuleInit } from '@nestjs/common'
import { APP_GUARD, HttpAdapterHost, ModulesContainer, type AbstractHttpAdapter } from '@nestjs/core'
import { metadataHeaders } from '../verifier/resource-metadata.ts'
import { createTokenVerifier, type TokenVerifier } from '../verifier/token-verifier.ts'
import type { TokenVerifierOptions } from '../verifier/token-verifier-options.ts'
import { requirementsOf } from './decorators.ts'
import { getTokenVerifierToken, GUARD_OPTIONS, TokenGuard, type GuardOptions } from './token.guard.ts'

/** Options of `createTokenVerifier`, or a verifier; where a request's client certificate is, and who its user is. */
export type ResourceServerModuleOptions = (TokenVerifierOptions | { readonly verifier: TokenVerifier }) &
  GuardOptions

/** Options that are known before a factory is called. */
export interface ResourceServerModuleExtras {
  /** Whether `TokenGuard` can be used in every module. @default false */
  readonly isGlobal?: boolean | undefined
  /** Whether all handlers require a token, except those with `@Public()`. @default false */
  readonly guardAll?: boolean | undefined
}

const OPTIONS = 'ResourceServerModule.options'

const { ConfigurableModuleClass } = new ConfigurableModuleBuilder<ResourceServerModuleOptions>({
  optionsInjectionToken: OPTIONS,
})
  .setClassMethodName('forRoot')
  .setFactoryMethodName('createResourceServerOptions')
  .setExtras<ResourceServerModuleExtras>({ isGlobal: false, guardAll: false }, (definition, extras) => ({
    ...definition,
    global: extras.isGlobal === true,
    providers: [
      ...(definition.providers ?? []),
      {
        provide: getTokenVerifierToken(),
        useFactory: (options: ResourceServerModuleOptions) =>
          'verifier' in options ? options.verifier : createTokenVerifier(options),
        inject: [OPTIONS],
      },
      {
        provide: GUARD_OPTIONS,
        useFactory: ({ clientCertificate, user }: ResourceServerModuleOptions): GuardOptions => ({
          clientCertificate,
          user,
        }),
        inject: [OPTIONS],
      },
      TokenGuard,
      RequirementsCheck,
      ...(extras.guardAll === true ? [{ provide: APP_GUARD, useExisting: TokenGuard }] : []),
    ],
    exports: [getTokenVerifierToken(), GUARD_OPTIONS, TokenGuard],
  }))
  .build()

/** What each application serves already: several of its modules may protect one resource. */
const served = new WeakMap<AbstractHttpAdapter, Set<string>>()

/**
 * Verifies the access tokens of an application's requests.
 *
 * @example
 * @Module({ imports: [ResourceServerModule.forRoot({ guardAll: true, introspection: { authUrl, clientId, clientSecret } })] })
 */
@Module({})
export class ResourceServerModule extends ConfigurableModuleClass implements OnModuleInit {
  readonly #verifier: TokenVerifier
  readonly #adapterHost: HttpAdapterHost

  constructor(
    @Inject(getTokenVerifierToken()) verifier: TokenVerifier,
    @Inject(HttpAdapterHost) adapterHost: HttpAdapterHost,
  ) {
    super()
    this.#verifier = verifier
    this.#adapterHost = adapterHost
  }

  /** Serves the API's metadata (RFC 9728), outside of guards and of the global prefix. */
  onModuleInit(): void {
    const { resourceMetadata: metadata } = this.#verifier
    // Undefined in applications without HTTP.
    const adapter = this.#adapterHost.httpAdapter as AbstractHttpAdapter | undefined
    if (metadata === undefined || typeof adapter?.get !== 'function') return
    const paths = served.get(adapter) ?? new Set()
    if (paths.has(metadata.path)) return
    served.set(adapter, paths.add(metadata.path))
    adapter.get(metadata.path, (_request: unknown, response: unknown) => {
      for (const [name, value] of Object.entries(metadataHeaders)) adapter.setHeader(response, name, value)
      adapter.reply(response, metadata.document, 200)
    })
  }
}

/** Stops the start of an application in which a handler is both public and not. */
@Injectable()
class RequirementsCheck implements OnModuleInit {
  readonly #modules: ModulesContainer

  constructor(@Inject(ModulesContainer) modules: ModulesContainer) {
    this.#modules = modules
  }

  onModuleInit(): void {
    for (const { controllers, providers } of this.#modules.values()) {
      for (const { metatype } of [...controllers.values(), ...providers.values()]) {
        if (typeof metatype === 'function' && metatype.prototype !== undefined) checkHandlers(metatype)
      }
    }
  }
}

function checkHandlers(metatype: object): void {
  const controller = metatype as abstract new () => object
  for (
    let prototype = controller.prototype;
    prototype && prototype !== Object.prototype;
    prototype = Object.getPrototypeOf(prototype) as object
  ) {
    for (const { value } of Object.values(Object.getOwnPropertyDescriptors(prototype))) {
      if (typeof value === 'function' && value !== controller)
        requirementsOf(value as () => unknown, controller)
    }
  }
}
