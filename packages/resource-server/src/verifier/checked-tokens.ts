import type { Clock } from '@tokenwell/core'
import { LRUCache } from 'lru-cache'
import { sharesWork, type CheckResult, type TokenCheck } from '../checks/token-check.ts'
import type { VerificationEventListener } from './token-verifier-options.ts'

export interface CheckedToken {
  readonly result: CheckResult
  /** By the monotonic clock. */
  readonly checkedAt: number
  readonly check: TokenCheck
}

export interface CheckedTokensOptions {
  readonly maxCachedTokens: number
  readonly clock: Clock
  readonly waitUntil?: ((work: Promise<unknown>) => void) | undefined
  readonly report: VerificationEventListener
}

/**
 * The results of checks, by the hashes of their tokens. Valid and invalid ones are kept apart, so that random tokens do
 * not evict valid ones; requests with the same token share one check.
 */
export class CheckedTokens {
  readonly #valid: LRUCache<string, CheckedToken>
  readonly #invalid: LRUCache<string, CheckedToken>
  readonly #pending = new Map<string, Promise<CheckedToken>>()
  readonly #options: CheckedTokensOptions

  constructor(options: CheckedTokensOptions) {
    this.#options = options
    this.#valid = new LRUCache({ max: options.maxCachedTokens })
    this.#invalid = new LRUCache({ max: options.maxCachedTokens })
  }

  /** A result that may be used again; without a promise where the runtime hashes synchronously. */
  find(key: string): CheckedToken | undefined {
    const found = this.#valid.get(key) ?? this.#invalid.get(key)
    return found && this.#age(found) < found.check.cacheMs[found.result.token ? 'valid' : 'invalid']
      ? found
      : undefined
  }

  /** @throws {TokenError} if the token could not be checked */
  check(key: string, token: string, check: TokenCheck): Promise<CheckedToken> {
    const pending = this.#pending.get(key)
    if (pending) return pending
    const work = this.#check(key, token, check)
    // Without a cache, the result of a check that began earlier is as old as one from a cache.
    if (!sharesWork(this.#options) || check.cacheMs.valid === 0) return work
    this.#pending.set(key, work)
    const settled = work.then(
      () => void this.#pending.delete(key),
      () => void this.#pending.delete(key),
    )
    this.#options.waitUntil?.(settled)
    return work
  }

  async #check(key: string, token: string, check: TokenCheck): Promise<CheckedToken> {
    const { clock, report } = this.#options
    const checkedAt = clock.monotonic()
    const known = this.#valid.peek(key)
    const reportResult = (result: 'valid' | 'invalid' | 'failed'): void =>
      report({
        type: 'token_checked',
        method: check.method,
        result,
        durationMs: clock.monotonic() - checkedAt,
      })
    try {
      const result = await check.check(token, known !== undefined)
      const checked = { result, checkedAt, check }
      const [to, from] = result.token ? [this.#valid, this.#invalid] : [this.#invalid, this.#valid]
      to.set(key, checked)
      from.delete(key)
      reportResult(result.token ? 'valid' : 'invalid')
      return checked
    } catch (error) {
      reportResult('failed')
      if (known && this.#age(known) < check.cacheMs.valid + check.staleIfErrorMs) return known
      throw error
    }
  }

  #age({ checkedAt }: CheckedToken): number {
    return this.#options.clock.monotonic() - checkedAt
  }
}
