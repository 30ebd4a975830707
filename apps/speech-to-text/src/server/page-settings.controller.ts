import { Controller, Get, Inject, Sse, UseGuards, type MessageEvent } from '@nestjs/common'
import { map, type Observable } from 'rxjs'
import type { PageSettings } from '../platform/page-settings.ts'
import { SERVER_SETTINGS, type ServerSettings } from './server-settings.ts'
import { SessionGuard } from './session.guard.ts'
import { TokenStatusService } from './token-status.service.ts'

@Controller('api')
export class PageSettingsController {
  readonly #settings: ServerSettings
  readonly #tokenStatus: TokenStatusService

  constructor(
    @Inject(SERVER_SETTINGS) settings: ServerSettings,
    @Inject(TokenStatusService) tokenStatus: TokenStatusService,
  ) {
    this.#settings = settings
    this.#tokenStatus = tokenStatus
  }

  @Get('page-settings')
  settings(): PageSettings {
    const { speechUrl, page } = this.#settings
    return { speechUrl, direct: page !== undefined }
  }

  @Sse('token-status')
  @UseGuards(SessionGuard)
  tokenStatus(): Observable<MessageEvent> {
    return this.#tokenStatus.follow().pipe(map((data) => ({ data })))
  }
}
