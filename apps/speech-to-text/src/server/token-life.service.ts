import { Injectable, type OnModuleDestroy } from '@nestjs/common'
import type { TokenProvider } from '@tokenwell/core'
import { InjectTokenProvider } from '@tokenwell/nestjs-module'
import { map, merge, Subject, timer, type Observable } from 'rxjs'
import { watchTokenLife, type TokenLife, type TokenWatch } from '../token-life.ts'

/** Follows the server's own token, for the panel of the page. */
@Injectable()
export class TokenLifeService implements OnModuleDestroy {
  readonly #changes = new Subject<void>()
  readonly #watch: TokenWatch

  constructor(@InjectTokenProvider() tokens: TokenProvider) {
    this.#watch = watchTokenLife(tokens, () => this.#changes.next())
  }

  countApiCall(): void {
    this.#watch.countApiCall()
  }

  /** Now, at every change, and now and then so that nobody takes the connection for dead. */
  follow(): Observable<TokenLife> {
    return merge(timer(0, 15_000), this.#changes).pipe(map(() => this.#watch.life()))
  }

  onModuleDestroy(): void {
    this.#watch.stop()
    this.#changes.complete()
  }
}
