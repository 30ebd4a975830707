import { Controller, Get, Inject, Sse, UseGuards, type MessageEvent } from '@nestjs/common'
import { map, type Observable } from 'rxjs'
import type { PlatformFacts } from './platform-facts.ts'
import { SERVER_SETTINGS, type ServerSettings } from './server-settings.ts'
import { SessionGuard } from './session.guard.ts'
import { TokenLifeService } from './token-life.service.ts'

@Controller('api')
export class PlatformController {
  readonly #settings: ServerSettings
  readonly #tokenLife: TokenLifeService

  constructor(
    @Inject(SERVER_SETTINGS) settings: ServerSettings,
    @Inject(TokenLifeService) tokenLife: TokenLifeService,
  ) {
    this.#settings = settings
    this.#tokenLife = tokenLife
  }

  @Get('platform')
  facts(): PlatformFacts {
    const { speechUrl, page } = this.#settings
    return { speechUrl, direct: page !== undefined }
  }

  @Sse('token-life')
  @UseGuards(SessionGuard)
  tokenLife(): Observable<MessageEvent> {
    return this.#tokenLife.follow().pipe(map((data) => ({ data })))
  }
}
