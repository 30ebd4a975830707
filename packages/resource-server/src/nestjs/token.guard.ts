import {
  HttpException,
  Inject,
  Injectable,
  Logger,
  Optional,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common'
import { HttpAdapterHost, Reflector } from '@nestjs/core'
import {
  credentialsOf,
  NodeRequestFacts,
  type NodeRequest,
  type RequireTokenOptions,
} from '../node-request.ts'
import { TokenVerificationError } from '../token-verification-error.ts'
import type { TokenVerifier } from '../token-verifier.ts'
import { CLIENT_CERTIFICATE } from './client-certificate.token.ts'
import { exchangeOf } from './request-of.ts'
import { PRODUCTS, PUBLIC, SCOPES } from './requirements.decorators.ts'
import { getTokenVerifierToken } from './token-verifier.token.ts'

/** Accepts only requests with a valid access token: `@UseGuards(TokenGuard)`, or `guardAll` of the module. */
@Injectable()
export class TokenGuard implements CanActivate {
  readonly #logger = new Logger('TokenGuard')
  readonly #verifier: TokenVerifier
  readonly #reflector: Reflector
  readonly #adapterHost: HttpAdapterHost
  readonly #clientCertificate: RequireTokenOptions<NodeRequest>['clientCertificate']

  constructor(
    @Inject(getTokenVerifierToken()) verifier: TokenVerifier,
    @Inject(Reflector) reflector: Reflector,
    @Inject(HttpAdapterHost) adapterHost: HttpAdapterHost,
    @Optional()
    @Inject(CLIENT_CERTIFICATE)
    clientCertificate?: RequireTokenOptions<NodeRequest>['clientCertificate'],
  ) {
    this.#verifier = verifier
    this.#reflector = reflector
    this.#adapterHost = adapterHost
    this.#clientCertificate = clientCertificate
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const places = [context.getHandler(), context.getClass()]
    if (this.#reflector.getAllAndOverride<boolean | undefined>(PUBLIC, places)) return true
    const { request, response } = exchangeOf(context)
    const required = (key: string): string[] =>
      this.#reflector.getAll<(string[] | undefined)[]>(key, places).flatMap((names) => names ?? [])
    const incoming = request.raw ?? request
    try {
      request.accessToken = await this.#verifier.verify(credentialsOf(incoming), {
        products: required(PRODUCTS),
        scopes: required(SCOPES),
        request: new NodeRequestFacts(request, this.#clientCertificate, incoming),
      })
      return true
    } catch (error) {
      if (!(error instanceof TokenVerificationError)) throw error
      if (error.status === 503)
        this.#logger.error(`An access token could not be checked. ${String(error.cause)}`)
      for (const [name, value] of Object.entries(error.headers)) {
        if (response) this.#adapterHost.httpAdapter.setHeader(response, name, value)
      }
      throw new HttpException(error.body, error.status, { cause: error })
    }
  }
}
