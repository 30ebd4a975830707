import { ConfigurableModuleBuilder } from '@nestjs/common'
import { APP_GUARD } from '@nestjs/core'
import type { NodeRequest, RequireTokenOptions } from '../node/node-request.ts'
import { createTokenVerifier, type TokenVerifier } from '../verifier/token-verifier.ts'
import type { TokenVerifierOptions } from '../options/token-verifier-options.ts'
import { CLIENT_CERTIFICATE, getTokenVerifierToken } from './tokens.ts'
import { RequirementsCheck } from './requirements-check.ts'
import { TokenGuard } from './token.guard.ts'

/** Options of `createTokenVerifier`, or a verifier; and where a request's client certificate is. */
export type ResourceServerModuleOptions = (TokenVerifierOptions | { readonly verifier: TokenVerifier }) &
  Pick<RequireTokenOptions<NodeRequest>, 'clientCertificate'>

/** Options that are known before a factory is called. */
export interface ResourceServerModuleExtras {
  /** Whether `TokenGuard` can be used in every module. @default false */
  readonly isGlobal?: boolean | undefined
  /** Whether all handlers require a token, except those with `@Public()`. @default false */
  readonly guardAll?: boolean | undefined
}

const OPTIONS = 'ResourceServerModule.options'

export const { ConfigurableModuleClass } = new ConfigurableModuleBuilder<ResourceServerModuleOptions>({
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
        provide: CLIENT_CERTIFICATE,
        useFactory: ({ clientCertificate }: ResourceServerModuleOptions) => clientCertificate,
        inject: [OPTIONS],
      },
      TokenGuard,
      RequirementsCheck,
      ...(extras.guardAll === true ? [{ provide: APP_GUARD, useExisting: TokenGuard }] : []),
    ],
    exports: [getTokenVerifierToken(), CLIENT_CERTIFICATE, TokenGuard],
  }))
  .build()
