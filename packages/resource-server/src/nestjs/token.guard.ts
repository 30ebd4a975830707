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
import type { FindUser, RequireTokenOptions } from '../checks/requirements.ts'
import { credentialsOf, NodeRequestFacts } from '../http/node-request.ts'
import { logFailure } from '../http/failure-log.ts'
import { TokenVerificationError } from '../http/token-verification-error.ts'
import type { TokenVerifier } from '../verifier/token-verifier.ts'
import { exchangeOf, requirementsOf, type IncomingRequest } from './decorators.ts'

/** The injection token of the verifier, for tests and factories. */
export function getTokenVerifierToken(): string {
  return 'TokenVerifier'
}

/** The injection token of what the module's options say about requests. */
export const GUARD_OPTIONS = 'ResourceServerModule.guardOptions'

/** Where a request's client certificate is, and who its user is. */
export interface GuardOptions extends Pick<RequireTokenOptions<IncomingRequest>, 'clientCertificate'> {
  /** Finds `request.user`, after everything that is required has been checked. */
  readonly user?: FindUser<IncomingRequest> | undefined
}

/**
 * Accepts only requests with a valid access token: `@UseGuards(TokenGuard)`, or `guardAll` of the module. A class that extends
 * it may have a constructor of its own.
 */
@Injectable()
export class TokenGuard implements CanActivate {
  readonly #logger = new Logger('TokenGuard')

  // Properties: Nest would take the parameters of a constructor for those of a class that extends this one.
  @Inject(getTokenVerifierToken())
  protected readonly verifier!: TokenVerifier

  @Inject(HttpAdapterHost)
  protected readonly adapterHost!: HttpAdapterHost

  @Optional()
  @Inject(GUARD_OPTIONS)
  protected readonly options: GuardOptions | undefined

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const requirements = requirementsOf(context.getHandler() as () => unknown, context.getClass())
    if (requirements === undefined) return true
    if ((this.verifier as TokenVerifier | undefined) === undefined) {
      throw new Error(
        'TokenGuard must be created by Nest: provide it with APP_GUARD, or name it in @UseGuards().',
      )
    }
    const { clientCertificate, user } = this.options ?? {}
    const { request, response } = exchangeOf(context)
    const incoming = request.raw ?? request
    try {
      const token = await this.verifier.verify(credentialsOf(incoming), {
        ...requirements,
        findUser: user && (async (verified) => (request.user = await user(verified, request))),
        request: new NodeRequestFacts(request, clientCertificate, incoming),
      })
      if (token) request.accessToken = token
      return true
    } catch (error) {
      if (!(error instanceof TokenVerificationError)) throw error
      logFailure(error, (level, text) => this.#logger[level](text))
      for (const [name, value] of Object.entries(error.headers)) {
        if (response) this.adapterHost.httpAdapter.setHeader(response, name, value)
      }
      throw new HttpException(error.body, error.status, { cause: error })
    }
  }
}
