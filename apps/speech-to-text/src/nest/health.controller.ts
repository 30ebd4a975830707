import { Controller, Get, Inject } from '@nestjs/common'
import type { ConfigType } from '@nestjs/config'
import {
  HealthCheck,
  HealthCheckService,
  HealthIndicatorService,
  HttpHealthIndicator,
} from '@nestjs/terminus'
import type { TokenProvider } from '@tokenwell/core'
import { InjectTokens } from '@tokenwell/nestjs-module'
import { speechApi } from './settings.js'

/** Whether recordings can be transcribed now: with a token, and a speech API that responds. */
@Controller('health')
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly indicators: HealthIndicatorService,
    private readonly http: HttpHealthIndicator,
    @InjectTokens() private readonly tokens: TokenProvider,
    @Inject(speechApi.KEY) private readonly api: ConfigType<typeof speechApi>,
  ) {}

  @Get()
  @HealthCheck()
  check() {
    return this.health.check([
      () => this.checkToken(),
      () => this.http.pingCheck('speech-api', `${this.api.baseURL}/healthz`, { timeout: 1_000 }),
    ])
  }

  /** Most checks use the cached token. Without one, a check waits for a second. */
  private async checkToken() {
    const indicator = this.indicators.check('token')
    return this.tokens.getToken({ signal: AbortSignal.timeout(1_000) }).then(
      () => indicator.up(),
      (error: Error) => indicator.down({ message: error.message }),
    )
  }
}
