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
import { InjectTokens } from '@tokenwell/nestjs-module'
import { SessionGuard } from '../session.ts'
import { type Sandbox, sandbox, type ServerApplication, serverApplication } from '../settings.ts'
import { TokenStatusService } from './token-status.service.ts'

const outageMs = 30_000

/** For a demonstration, not for copying: shows what revocation, expiry and an outage mean for the server's token. */
@Controller('api/trials')
@UseGuards(SessionGuard)
export class TrialsController implements OnModuleDestroy {
  readonly #sandbox: Sandbox
  readonly #application: ServerApplication
  readonly #tokens: TokenProvider
  readonly #tokenStatus: TokenStatusService
  #outageEnd: NodeJS.Timeout | undefined

  constructor(
    @Inject(sandbox.KEY) settings: Sandbox,
    @Inject(serverApplication.KEY) application: ServerApplication,
    @InjectTokens() tokens: TokenProvider,
    @Inject(TokenStatusService) tokenStatus: TokenStatusService,
  ) {
    this.#sandbox = settings
    this.#application = application
    this.#tokens = tokens
    this.#tokenStatus = tokenStatus
  }

  /** Revokes the token at the token service, as somebody else would: the provider does not know. */
  @Post('revoked')
  @HttpCode(204)
  async revoke(): Promise<void> {
    this.#sandboxUrl()
    const { authUrl, clientId, clientSecret = '' } = this.#application
    const token = this.#tokens.peekToken()
    if (!token) return
    await fetch(`${authUrl?.replace(/\/+$/, '')}/oauth/revoke`, {
      method: 'POST',
      body: new URLSearchParams({ token: token.value, client_id: clientId, client_secret: clientSecret }),
    })
    this.#tokenStatus.addTrial('revoked')
  }

  @Post('expired')
  @HttpCode(204)
  expire(): void {
    this.#sandboxUrl()
    this.#tokens.reset()
    this.#tokenStatus.addTrial('expired')
  }

  @Post('outage')
  @HttpCode(204)
  async startOutage(): Promise<void> {
    const faultsUrl = `${this.#sandboxUrl()}/faults`
    const endOutage = () => fetch(faultsUrl, { method: 'DELETE' })
    await endOutage()
    await fetch(faultsUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ status: 503, requests: 1_000_000 }),
    })
    clearTimeout(this.#outageEnd)
    this.#outageEnd = setTimeout(() => void endOutage(), outageMs)
    this.#tokenStatus.addTrial('outage')
  }

  onModuleDestroy(): void {
    clearTimeout(this.#outageEnd)
  }

  #sandboxUrl(): string {
    if (this.#sandbox.url !== undefined) return this.#sandbox.url
    throw new NotFoundException({
      error: { code: 'no_trials', message: 'Trials need services that were started with this server.' },
    })
  }
}
