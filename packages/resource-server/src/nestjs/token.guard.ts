import {
  HttpException,
  Inject,
  Injectable,
  Logger,
  Optional,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common'
import { HttpAdapterHost } from '@nestjs/core'
import type { RequireTokenOptions } from '../checks/requirements.ts'
import { credentialsOf, NodeRequestFacts, type NodeRequest } from '../http/node-request.ts'
import { logFailure } from '../http/failure-log.ts'
import { TokenVerificationError } from '../http/token-verification-error.ts'
import type { TokenVerifier } from '../verifier/token-verifier.ts'
import { exchangeOf, requirementsOf } from './decorators.ts'

/** The injection token of the verifier, for tests and factories. */
export function getTokenVerifierToken(): string {
  return 'TokenVerifier'
}

/** The injection token of the module's `clientCertificate`. */
export const CLIENT_CERTIFICATE = 'ResourceServerModule.clientCertificate'

type ClientCertificateReader = NonNullable<RequireTokenOptions<NodeRequest>['clientCertificate']>

/** Accepts only requests with a valid access token: `@UseGuards(TokenGuard)`, or `guardAll` of the module. */
@Injectable()
export class TokenGuard implements CanActivate {
  readonly #logger = new Logger('TokenGuard')
  readonly #verifier: TokenVerifier
  readonly #adapterHost: HttpAdapterHost
  readonly #clientCertificate: ClientCertificateReader | undefined

  constructor(
    @Inject(getTokenVerifierToken()) verifier: TokenVerifier,
    @Inject(HttpAdapterHost) adapterHost: HttpAdapterHost,
    @Optional()
    @Inject(CLIENT_CERTIFICATE)
    clientCertificate?: ClientCertificateReader,
  ) {
    this.#verifier = verifier
    this.#adapterHost = adapterHost
    this.#clientCertificate = clientCertificate
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const requirements = requirementsOf(context.getHandler() as () => unknown, context.getClass())
    if (requirements === undefined) return true
    const { request, response } = exchangeOf(context)
    const incoming = request.raw ?? request
    try {
      const token = await this.#verifier.verify(credentialsOf(incoming), {
        ...requirements,
        request: new NodeRequestFacts(request, this.#clientCertificate, incoming),
      })
      if (token) request.accessToken = token
      return true
    } catch (error) {
      if (!(error instanceof TokenVerificationError)) throw error
      logFailure(error, (level, text) => this.#logger[level](text))
      for (const [name, value] of Object.entries(error.headers)) {
        if (response) this.#adapterHost.httpAdapter.setHeader(response, name, value)
      }
      throw new HttpException(error.body, error.status, { cause: error })
    }
  }
}
