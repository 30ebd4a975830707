import { Inject, Module, type OnModuleInit } from '@nestjs/common'
import { HttpAdapterHost, type AbstractHttpAdapter } from '@nestjs/core'
import { metadataHeaders } from '../metadata/resource-metadata.ts'
import type { TokenVerifier } from '../verifier/token-verifier.ts'
import { ConfigurableModuleClass } from './resource-server.module-definition.ts'
import { getTokenVerifierToken } from './tokens.ts'

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
    adapter.get(metadata.path, (_request: unknown, response: unknown) => {
      for (const [name, value] of Object.entries(metadataHeaders)) adapter.setHeader(response, name, value)
      adapter.reply(response, metadata.document, 200)
    })
  }
}
