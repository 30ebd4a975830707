import type { ProviderSettings } from '../acquire/provider-settings.ts'
import type { TokenErrorKind } from '../protocol/token-error.ts'
import { addListener, notifyListener } from '../runtime/listeners.ts'
import { remainingLifetimeMs, type AccessToken } from '../tokens/access-token.ts'
import type { TokenEvent, TokenEventListener, TokenWaitCause } from '../tokens/token-event.ts'
import type { TokenSource } from '../tokens/token-source.ts'

/** What happened during one call, for its event. */
export interface CallRecord {
  readonly startedAt: number
  waitedFor?: TokenWaitCause | undefined
  requestId?: number | undefined
}

/** The events of one provider, and their listeners. */
export class TokenEvents {
  readonly #source: TokenSource
  readonly #settings: ProviderSettings
  readonly #key: string | number | undefined
  #listeners: Set<TokenEventListener> | undefined

  constructor(source: TokenSource, settings: ProviderSettings, key: string | number | undefined) {
    this.#source = source
    this.#settings = settings
    this.#key = key
  }

  subscribe(listener: TokenEventListener): () => void {
    return addListener((this.#listeners ??= new Set()), listener)
  }

  emit(event: TokenEvent): void {
    const { onEvent, label = this.#source.label } = this.#settings
    if (onEvent === undefined && !this.#listeners?.size) return
    const named = {
      ...event,
      ...(label !== undefined && { label }),
      ...(this.#key !== undefined && { key: this.#key }),
    }
    void notifyListener(onEvent, named)
    this.#listeners?.forEach((listener) => void notifyListener(listener, named))
  }

  callSettled({ startedAt, waitedFor, requestId }: CallRecord, kind?: TokenErrorKind): void {
    const durationMs = this.#settings.clock.monotonic() - startedAt
    this.emit({ type: 'call_settled', durationMs, waitedFor, requestId, kind })
  }

  tokenRejected(token: AccessToken, refreshing: boolean, origin?: string): void {
    const remainingMs = Math.max(0, remainingLifetimeMs(token))
    this.emit({ type: 'token_rejected', remainingMs, refreshing, ...(origin && { origin }) })
  }
}
