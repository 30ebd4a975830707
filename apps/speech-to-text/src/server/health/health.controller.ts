import { Controller, Get, Inject } from '@nestjs/common'
import {
  HealthCheck,
  HealthCheckService,
  HealthIndicatorService,
  HttpHealthIndicator,
  type HealthCheckResult,
} from '@nestjs/terminus'
import type { TokenError, TokenProvider } from '@tokenwell/core'
import { InjectTokens } from '@tokenwell/nestjs-module'
import { speechApi, type SpeechApi } from '../settings.ts'

/** Whether recordings can be transcribed now: with a token, and a speech API that responds. */
@Controller('health')
export class HealthController {
  readonly #health: HealthCheckService
  readonly #indicators: HealthIndicatorService
  readonly #http: HttpHealthIndicator
  readonly #tokens: TokenProvider
  readonly #speechApi: SpeechApi

  constructor(
    @Inject(HealthCheckService) health: HealthCheckService,
    @Inject(HealthIndicatorService) indicators: HealthIndicatorService,
    @Inject(HttpHealthIndicator) http: HttpHealthIndicator,
    @InjectTokens() tokens: TokenProvider,
    @Inject(speechApi.KEY) api: SpeechApi,
  ) {
    this.#health = health
    this.#indicators = indicators
    this.#http = http
    this.#tokens = tokens
    this.#speechApi = api
  }

  @Get()
  @HealthCheck()
  check(): Promise<HealthCheckResult> {
    return this.#health.check([
      () => this.#checkToken(),
      () => this.#http.pingCheck('speech-api', `${this.#speechApi.baseURL}/healthz`),
    ])
  }

  /** Most checks use the cached token: they send no token request. */
  async #checkToken() {
    const indicator = this.#indicators.check('token')
    return this.#tokens.getToken().then(
      () => indicator.up(),
      ({ kind }: TokenError) => indicator.down({ kind }),
    )
  }
}
