import { Redacted } from '../runtime/redacted.ts'
import { TokenError } from '../protocol/token-error.ts'
import type { AccessToken } from '../tokens/access-token.ts'
import type { TokenAttachmentEvent, TokenEventListener } from '../tokens/token-event.ts'
import type {
  AttachableTokenProvider,
  GetTokenToAttachOptions,
  RejectedRequest,
} from './attachable-token-provider.ts'
import { closedProvider, type CachingTokenProvider } from './caching-token-provider.ts'
import type { CloseOptions } from './token-provider.ts'

/** What a pooled provider needs from its pool. */
export interface ProviderPool<Key> {
  /** The key's provider, created if it is not there; makes the key known to the pool again. */
  provide(handle: PooledTokenProvider<Key>): CachingTokenProvider | Promise<CachingTokenProvider>
  listen(key: Key, listener: TokenEventListener): () => void
  /** Closes the provider, and removes the key unless it has another provider by now. */
  close(handle: PooledTokenProvider<Key>, options: CloseOptions | undefined): Promise<void>
}

/** One key of a pool. It keeps working after the key was evicted: its next use creates a provider again. */
export class PooledTokenProvider<Key> extends Redacted implements AttachableTokenProvider {
  readonly key: Key
  readonly #pool: ProviderPool<Key>
  /** Set while the key is in the pool and its source is known. */
  provider: CachingTokenProvider | undefined
  /** Set by each use but the first; the pool evicts keys that have not been used since its last check. */
  used = false
  #closed = false

  constructor(key: Key, pool: ProviderPool<Key>) {
    super()
    this.key = key
    this.#pool = pool
  }

  getToken(options?: GetTokenToAttachOptions): Promise<AccessToken> {
    if (this.provider === undefined) return this.#provide().then((provider) => provider.getToken(options))
    this.used = true
    return this.provider.getToken(options)
  }

  async #provide(): Promise<CachingTokenProvider> {
    this.#checkOpen()
    const provider = await this.#pool.provide(this)
    this.#checkOpen()
    return provider
  }

  #checkOpen(): void {
    if (this.#closed) throw new TokenError(closedProvider)
  }

  peekToken(): AccessToken | undefined {
    return this.provider?.peekToken()
  }

  reject(token: AccessToken): void {
    this.provider?.reject(token)
  }

  reset(): void {
    this.provider?.reset()
  }

  subscribe(listener: TokenEventListener): () => void {
    return this.#pool.listen(this.key, listener)
  }

  async revoke(): Promise<void> {
    await this.provider?.revoke()
  }

  close(options?: CloseOptions): Promise<void> {
    this.#closed = true
    return this.#pool.close(this, options)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  toJSON(): object {
    return { key: this.key, ...this.provider?.toJSON() }
  }

  async replaceRejected(token: AccessToken, request: RejectedRequest): Promise<AccessToken | undefined> {
    return this.provider?.replaceRejected(token, request)
  }

  widen(scopes: readonly string[], url: string): AttachableTokenProvider | undefined {
    return this.provider?.widen(scopes, url)
  }

  report(event: TokenAttachmentEvent): void {
    this.provider?.report(event)
  }
}
