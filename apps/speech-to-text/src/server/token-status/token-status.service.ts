import { Injectable, type OnModuleDestroy } from '@nestjs/common'
import type { TokenProvider } from '@tokenwell/core'
import { InjectTokens } from '@tokenwell/nestjs-module'
import { map, merge, type Observable, Subject, timer } from 'rxjs'
import { type TokenStatus, type TokenWatcher, type Trial, watchToken } from '../../tokens/token-status.ts'

/** Follows the token of the server, for the page. */
@Injectable()
export class TokenStatusService implements OnModuleDestroy {
  readonly #changes = new Subject<void>()
  readonly #watcher: TokenWatcher

  constructor(@InjectTokens() tokens: TokenProvider) {
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
