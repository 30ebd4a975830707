import { ConfigurableModuleBuilder } from '@nestjs/common'
import { createClientTokenProvider, type TokenModuleOptions } from './create-client-token-provider.ts'
import { hideOptions, withModuleName } from './configure-module.ts'
import { getTokenProviderToken } from './token-provider.token.ts'

/** Static options, known before a factory returns the others. */
export interface TokenModuleExtras {
  /** Name of the client, for an application with several. */
  readonly name?: string | undefined
  /** Whether every module sees the provider. @default false */
  readonly isGlobal?: boolean | undefined
}

/** The token provider of this module, regardless of its name. */
export const MODULE_TOKEN_PROVIDER = 'TokenModule.tokenProvider'

/** The injection token of {@link MODULE_TOKEN_PROVIDER}. */
export const MODULE_TOKEN = 'TokenModule.token'

export const TOKEN_MODULE_OPTIONS = 'TokenModule.options'

export const { ConfigurableModuleClass } = new ConfigurableModuleBuilder<TokenModuleOptions>({
  optionsInjectionToken: TOKEN_MODULE_OPTIONS,
  alwaysTransient: true,
})
  .setClassMethodName('forRoot')
  .setFactoryMethodName('createTokenOptions')
  .setExtras<TokenModuleExtras>({ name: undefined, isGlobal: false }, (definition, { name, isGlobal }) => {
    const token = getTokenProviderToken(name)
    const client = {
      provide: token,
      useFactory: (options: TokenModuleOptions) =>
        withModuleName('TokenModule', name, () => createClientTokenProvider(options, name)),
      inject: [TOKEN_MODULE_OPTIONS],
    }
    return {
      ...definition,
      global: isGlobal === true,
      providers: [
        ...hideOptions(TOKEN_MODULE_OPTIONS, definition.providers),
        client,
        { provide: MODULE_TOKEN_PROVIDER, useExisting: token },
        { provide: MODULE_TOKEN, useValue: token },
      ],
      exports: [token],
    }
  })
  .build()
