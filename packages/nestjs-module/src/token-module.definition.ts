import { ConfigurableModuleBuilder } from '@nestjs/common'
import type { ClientCredentialsOptions, TokenProviderOptions, TokenSource } from '@tokenwell/core'
import { createClientTokens } from './create-client-tokens.ts'
import { namingModule } from './naming-module.ts'
import { getTokenProviderToken } from './token-provider.token.ts'

/** What one client's tokens need: its credentials, or a source of its own, and how tokens are kept. */
export type TokenModuleOptions = TokenProviderOptions &
  (ClientCredentialsOptions | { readonly source: TokenSource })

/** What is said beside the options, and known before a factory makes them. */
export interface TokenModuleExtras {
  /** Name of the client, for an application with several. */
  readonly name?: string | undefined
  /** Whether every module sees the provider. @default false */
  readonly isGlobal?: boolean | undefined
}

/** The module's own client, whatever its name. */
export const OWN_TOKENS = 'TokenModule.ownTokens'

export const TOKEN_MODULE_OPTIONS = 'TokenModule.options'

export const { ConfigurableModuleClass } = new ConfigurableModuleBuilder<TokenModuleOptions>({
  optionsInjectionToken: TOKEN_MODULE_OPTIONS,
})
  .setClassMethodName('forRoot')
  .setFactoryMethodName('createTokenOptions')
  .setExtras<TokenModuleExtras>({ name: undefined, isGlobal: false }, (definition, { name, isGlobal }) => {
    const token = getTokenProviderToken(name)
    const client = {
      provide: token,
      useFactory: (options: TokenModuleOptions) =>
        namingModule('TokenModule', name, () => createClientTokens(options)),
      inject: [TOKEN_MODULE_OPTIONS],
    }
    return {
      ...definition,
      global: isGlobal === true,
      providers: [...(definition.providers ?? []), client, { provide: OWN_TOKENS, useExisting: token }],
      exports: [token],
    }
  })
  .build()
