import {
  Controller,
  Get,
  Inject,
  Injectable,
  type MessageEvent,
  type OnModuleDestroy,
  Sse,
  UseGuards,
} from '@nestjs/common'
import type { TokenProvider } from '@tokenwell/core'
import { InjectTokenProvider } from '@tokenwell/nestjs-module'
import { map, merge, type Observable, Subject, timer } from 'rxjs'
import type { Platform, PageSettings } from '../platform/connection.ts'
import { type TokenStatus, type TokenWatcher, type Trial, watchToken } from '../tokens/token-status.ts'
import { SessionGuard } from './session.ts'

/** The platform and the credentials of the server. */
export type ServerSettings = Omit<Platform, 'close' | 'onEvent'>

/** Injection token of the settings. */
export const SERVER_SETTINGS = 'ServerSettings'

/** Follows the token of the server, for the page. */
@Injectable()
export class TokenStatusService implements OnModuleDestroy {
  readonly #changes = new Subject<void>()
  readonly #watcher: TokenWatcher

  constructor(@InjectTokenProvider() tokens: TokenProvider) {
    this.#watcher = watchToken(tokens, () => this.#changes.next())
  }

  countApiCall(): void {
    this.#watcher.countApiCall()
  }

  addTrial(trial: Trial): void {
    this.#watcher.addTrial(trial)
  }

  /** Emits the status now, after each change, and every 15 s to keep the connection open. */
  follow(): Observable<TokenStatus> {
    return merge(timer(0, 15_000), this.#changes).pipe(map(() => this.#watcher.status()))
  }

  onModuleDestroy(): void {
    this.#watcher.stop()
    this.#changes.complete()
  }
}

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
    const { speechUrl, page, setOutage } = this.#settings
    return { speechUrl, direct: page !== undefined, trials: setOutage !== undefined }
  }

  @Sse('token-status')
  @UseGuards(SessionGuard)
  tokenStatus(): Observable<MessageEvent> {
    return this.#tokenStatus.follow().pipe(map((data) => ({ data })))
  }
}
