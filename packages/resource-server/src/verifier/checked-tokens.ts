import type { Clock } from '@tokenwell/core'
import { refreshed, type Refreshed, type RefreshedOptions } from '@tokenwell/core/adapter'
import { LRUCache } from 'lru-cache'
import type { CheckResult, TokenCheck } from '../checks/token-check.ts'
import type { VerificationEventListener } from './token-verifier-options.ts'

export interface CheckedToken {
  readonly result: CheckResult
  readonly check: TokenCheck
}

type Entry = Refreshed<CheckedToken, [token: string, check: TokenCheck, known: boolean]>

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
  readonly #valid: LRUCache<string, Entry>
  readonly #invalid: LRUCache<string, Entry>
  readonly #pending = new Map<string, Entry>()
  readonly #options: CheckedTokensOptions
  // One object for all tokens of a check: what a token keeps is collected or copied by the garbage collector.
  readonly #entryOptions = new WeakMap<TokenCheck, RefreshedOptions<CheckedToken>>()
  readonly #load = (token: string, check: TokenCheck, known: boolean): Promise<CheckedToken> =>
    this.#check(token, check, known)

  constructor(options: CheckedTokensOptions) {
    this.#options = options
    this.#valid = new LRUCache({ max: options.maxCachedTokens })
    this.#invalid = new LRUCache({ max: options.maxCachedTokens })
  }

  /** A result that may be used again; without a promise where the runtime hashes synchronously. */
  find(key: string): CheckedToken | undefined {
    return (this.#valid.get(key) ?? this.#invalid.get(key))?.peek()
  }

  /** @throws {TokenError} if the token could not be checked */
  async check(key: string, token: string, check: TokenCheck): Promise<CheckedToken> {
    const known = this.#valid.peek(key)
    const entry = known ?? this.#invalid.peek(key) ?? this.#pending.get(key) ?? this.#createEntry(check)
    this.#pending.set(key, entry)
    try {
      const checked = await entry.get(token, check, known !== undefined)
      const [to, from] = checked.result.token ? [this.#valid, this.#invalid] : [this.#invalid, this.#valid]
      to.set(key, entry)
      from.delete(key)
      return checked
    } finally {
      this.#pending.delete(key)
    }
  }

  #createEntry(check: TokenCheck): Entry {
    const known = this.#entryOptions.get(check)
    const options = known ?? this.#optionsOf(check)
    if (!known) this.#entryOptions.set(check, options)
    return refreshed(this.#load, options)
  }

  #optionsOf({ cacheMs, staleIfErrorMs, timeoutMs }: TokenCheck): RefreshedOptions<CheckedToken> {
    const { clock, waitUntil } = this.#options
    return {
      maxAgeMs: ({ result }) => cacheMs[result.token ? 'valid' : 'invalid'],
      keepMs: ({ result }) => (result.token ? staleIfErrorMs : 0),
      pauseMs: 0,
      timeoutMs,
      // Without a cache, the result of a check that began earlier is as old as one from a cache.
      ...(cacheMs.valid === 0 && { shares: false }),
      waitUntil,
      clock,
    }
  }

  async #check(token: string, check: TokenCheck, known: boolean): Promise<CheckedToken> {
    const { clock, report } = this.#options
    const startedAt = clock.monotonic()
    const reportResult = (result: 'valid' | 'invalid' | 'failed'): void =>
      report({
        type: 'token_checked',
        method: check.method,
        result,
        durationMs: clock.monotonic() - startedAt,
      })
    try {
      const result = await check.check(token, known)
      reportResult(result.token ? 'valid' : 'invalid')
      return { result, check }
    } catch (error) {
      reportResult('failed')
      throw error
    }
  }
}
