import { HttpService } from '@nestjs/axios'
import { ConfigurableModuleBuilder, type ModuleMetadata } from '@nestjs/common'
import { ModulesContainer } from '@nestjs/core'
import { attachTokens } from '@tokenwell/axios-interceptor'
import type { AttachableTokens, AttachOptions, TokenProvider } from '@tokenwell/core'
import { configurationError } from '@tokenwell/core/protocol'
import axios, { type CreateAxiosDefaults } from 'axios'
import { hideOptions, withModuleName } from '../configure-module.ts'
import { getTokenProviderToken } from '../token-provider.token.ts'
import { getTokenHttpToken } from './token-http.token.ts'

/** Options of the axios instance, and the origins that may receive tokens: by default, that of `baseURL`. */
export interface TokenHttpModuleOptions extends Omit<CreateAxiosDefaults, 'baseURL'>, AttachOptions {
  /** Requests with a path are sent to this URL. */
  readonly baseURL?: string | undefined
  /** Where the tokens come from, instead of the `client` of a `TokenModule`. */
  readonly tokens?: AttachableTokens | undefined
}

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
            useFactory: (
              options: TokenHttpModuleOptions,
              modules: ModulesContainer,
              tokens: TokenProvider | undefined,
            ) =>
              withModuleName('TokenHttpModule', name, () => {
                const provider = options.tokens ?? tokens ?? failWithoutClient(client, modules)
                return createHttpService(options, provider, client)
              }),
            inject: [OPTIONS, ModulesContainer, { token: getTokenProviderToken(client), optional: true }],
          },
          { provide: HTTP_TOKEN, useValue: token },
        ],
        exports: [token],
      }
    },
  )
  .build()

/** axios ignores options that are undefined. The type requires that none is missing here. */
const withoutAttachOptions: Readonly<Record<'tokens' | keyof AttachOptions, undefined>> = {
  tokens: undefined,
  allowedOrigins: undefined,
  header: undefined,
  scheme: undefined,
  replaceHeader: undefined,
  retryOnRejection: undefined,
  isTokenRejected: undefined,
  allowInsecureRequests: undefined,
}

/** @throws {TokenError} of kind `configuration`, with the clients of the whole application */
function failWithoutClient(client: string | undefined, modules: ModulesContainer): never {
  const described = [...modules.values()].flatMap(({ providers }) =>
    [...providers.keys()].flatMap((key) => {
      const [isClient, name] = /^TokenProvider(?:\((.*)\))?$/s.exec(String(key)) ?? []
      return isClient ? [name === undefined ? 'one without a name' : `'${name}'`] : []
    }),
  )
  const what = client === undefined ? 'TokenModule without a name' : `TokenModule with the name '${client}'`
  const existing = described.length > 0 ? ` The application has ${[...new Set(described)].join(', ')}.` : ''
  throw configurationError(
    `No ${what} is imported here.${existing} Import it, make it global, or set tokens.`,
  )
}

function createHttpService(
  options: TokenHttpModuleOptions,
  tokens: AttachableTokens,
  client: string | undefined,
): HttpService {
  if (options.tokens && client !== undefined)
    throw configurationError('tokens and client are mutually exclusive.')
  // In axios 1.7, it is no named export.
  // oxlint-disable-next-line import/no-named-as-default-member
  const instance = axios.create({ ...options, ...withoutAttachOptions } as CreateAxiosDefaults)
  attachTokens(instance, tokens, options)
  return new HttpService(instance)
}
