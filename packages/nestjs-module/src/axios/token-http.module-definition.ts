import { HttpService } from '@nestjs/axios'
import { ConfigurableModuleBuilder, type ModuleMetadata } from '@nestjs/common'
import { attachTokens } from '@tokenwell/axios-interceptor'
import type { AttachOptions, TokenProvider } from '@tokenwell/core'
import { create, type CreateAxiosDefaults } from 'axios'
import { hideOptions } from '../hide-options.ts'
import { getTokenProviderToken } from '../token-provider.token.ts'
import { withModuleName } from '../with-module-name.ts'
import { getTokenHttpToken } from './token-http.token.ts'

/** Options of the axios instance, and the origins that may receive tokens: by default, that of `baseURL`. */
export interface TokenHttpModuleOptions extends CreateAxiosDefaults, Partial<AttachOptions> {}

/** Static options, known before a factory returns the others. */
export interface TokenHttpModuleExtras {
  /** Name of the `TokenModule` client whose tokens are attached. */
  readonly client?: string | undefined
  /** Name for injecting the service: `@InjectTokenHttp('name')`. @default the name of the client */
  readonly name?: string | undefined
  /** Whether every module sees the service. @default false */
  readonly isGlobal?: boolean | undefined
  /** Modules that provide the client, unless it is global. */
  readonly imports?: ModuleMetadata['imports'] | undefined
}

const OPTIONS = 'TokenHttpModule.options'

/** The injection token of the service that a module provides. */
export const HTTP_TOKEN = 'TokenHttpModule.token'

export const { ConfigurableModuleClass } = new ConfigurableModuleBuilder<TokenHttpModuleOptions>({
  optionsInjectionToken: OPTIONS,
  alwaysTransient: true,
})
  .setFactoryMethodName('createTokenHttpOptions')
  .setExtras<TokenHttpModuleExtras>(
    { client: undefined, name: undefined, isGlobal: false, imports: undefined },
    (definition, { client, name = client, isGlobal, imports = [] }) => {
      const token = getTokenHttpToken(name)
      return {
        ...definition,
        global: isGlobal === true,
        imports: [...(definition.imports ?? []), ...imports],
        providers: [
          ...hideOptions(OPTIONS, definition.providers),
          {
            provide: token,
            useFactory: (tokens: TokenProvider, options: TokenHttpModuleOptions) =>
              withModuleName('TokenHttpModule', name, () => createHttpService(tokens, options)),
            inject: [getTokenProviderToken(client), OPTIONS],
          },
          { provide: HTTP_TOKEN, useValue: token },
        ],
        exports: [token],
      }
    },
  )
  .build()

/** axios ignores options that are undefined. The type requires that none is missing here. */
const withoutAttachOptions: Readonly<Record<keyof AttachOptions, undefined>> = {
  allowedOrigins: undefined,
  header: undefined,
  scheme: undefined,
  replaceHeader: undefined,
  retryOnRejection: undefined,
  isTokenRejected: undefined,
  allowInsecureRequests: undefined,
}

function createHttpService(tokens: TokenProvider, options: TokenHttpModuleOptions): HttpService {
  const instance = create({ ...options, ...withoutAttachOptions })
  attachTokens(instance, tokens, options)
  return new HttpService(instance)
}
