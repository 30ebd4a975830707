import {
  Controller,
  HttpCode,
  Inject,
  NotFoundException,
  type OnModuleDestroy,
  Post,
  UseGuards,
} from '@nestjs/common'
import type { TokenProvider } from '@tokenwell/core'
import { InjectTokenProvider } from '@tokenwell/nestjs-module'
import { SERVER_SETTINGS, type ServerSettings, TokenStatusService } from './page-settings.controller.ts'
import { SessionGuard } from './session.ts'

const outageMs = 30_000

/** For a demonstration, not for copying: shows what revocation, expiry and an outage mean for the server's token. */
@Controller('api/trials')
@UseGuards(SessionGuard)
export class TrialsController implements OnModuleDestroy {
  readonly #settings: ServerSettings
  readonly #tokens: TokenProvider
  readonly #tokenStatus: TokenStatusService
  #outageEnd: NodeJS.Timeout | undefined

  constructor(
    @Inject(SERVER_SETTINGS) settings: ServerSettings,
    @InjectTokenProvider() tokens: TokenProvider,
    @Inject(TokenStatusService) tokenStatus: TokenStatusService,
  ) {
    this.#settings = settings
    this.#tokens = tokens
    this.#tokenStatus = tokenStatus
  }

  /** Revokes the token at the token service, as somebody else would: the provider does not know. */
  @Post('revoked')
  @HttpCode(204)
  async revoke(): Promise<void> {
    const { authUrl, clientId, clientSecret } = this.#settings
    this.#check()
    const token = this.#tokens.peekToken()
    if (!token) return
    await fetch(`${authUrl}/oauth/revoke`, {
      method: 'POST',
      body: new URLSearchParams({ token: token.value, client_id: clientId, client_secret: clientSecret }),
    })
    this.#tokenStatus.addTrial('revoked')
  }

  @Post('expired')
  @HttpCode(204)
  expire(): void {
    this.#check()
    this.#tokens.reset()
    this.#tokenStatus.addTrial('expired')
  }

  @Post('outage')
  @HttpCode(204)
  async startOutage(): Promise<void> {
    const setOutage = this.#check()
    await setOutage(true)
    clearTimeout(this.#outageEnd)
    this.#outageEnd = setTimeout(() => void setOutage(false), outageMs)
    this.#tokenStatus.addTrial('outage')
  }

  onModuleDestroy(): void {
    clearTimeout(this.#outageEnd)
  }

  #check(): NonNullable<ServerSettings['setOutage']> {
    if (this.#settings.setOutage) return this.#settings.setOutage
    throw new NotFoundException({
      error: { code: 'no_trials', message: 'Trials need services that were started with this server.' },
    })
  }
}
