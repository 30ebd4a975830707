import { Controller, Inject, type MessageEvent, Sse, UseGuards } from '@nestjs/common'
import { map, type Observable } from 'rxjs'
import { SessionGuard } from '../session.ts'
import { TokenStatusService } from './token-status.service.ts'

@Controller('api/token-status')
@UseGuards(SessionGuard)
export class TokenStatusController {
  readonly #tokenStatus: TokenStatusService

  constructor(@Inject(TokenStatusService) tokenStatus: TokenStatusService) {
    this.#tokenStatus = tokenStatus
  }

  @Sse()
  follow(): Observable<MessageEvent> {
    return this.#tokenStatus.follow().pipe(map((data) => ({ data })))
  }
}
