import { expect } from 'vitest'
import { TokenError, type AccessToken, type TokenResponse, type TokenSource } from '@tokenwell/core'
import { ScriptedEndpoint, sourceOf, type ScriptedResponse } from '../support/scripted-endpoint.ts'

interface Issued {
  readonly wall: number
  readonly monotonic: number
  readonly lifetimeMs: number
}

/** A source that records what it issued and when, and reports two concurrent requests as a problem. */
export class StrictSource {
  /** Number of requests. */
  requests = 0
  readonly problems: string[] = []
  readonly #issued = new Map<string, Issued>()
  readonly #script: readonly ScriptedResponse[]
  readonly #obeysSignal: boolean

  constructor(script: readonly ScriptedResponse[], obeysSignal: boolean) {
    this.#script = script
    this.#obeysSignal = obeysSignal
  }

  /** The source of one provider, which must never have two pending requests. */
  forOneProvider(): TokenSource {
    let pending: AbortSignal | undefined
    return {
      cacheKey: () => Promise.resolve('key'),
      requestToken: async ({ signal }) => {
        if (pending?.aborted === false) this.problems.push('two requests at once')
        pending = signal
        try {
          return await this.#request(signal)
        } finally {
          if (pending === signal) pending = undefined
        }
      },
    }
  }

  async #request(signal: AbortSignal): Promise<TokenResponse> {
    const number = ++this.requests
    const sent = { wall: Date.now(), monotonic: performance.now() }
    const scripted = this.#script[(number - 1) % this.#script.length]!
    const ownSignal = this.#obeysSignal ? signal : new AbortController().signal
    const body = { access_token: `token-${number}`, token_type: 'Bearer', expires_in: scripted.expiresIn }
    const endpoint = new ScriptedEndpoint(scripted.expiresIn === undefined ? scripted : { ...scripted, body })
    const response = await sourceOf(endpoint).requestToken({ signal: ownSignal })
    if (response.expiresIn === undefined)
      throw new TokenError({ kind: 'malformed', message: 'no expires_in' })
    this.#issued.set(response.accessToken, { ...sent, lifetimeMs: response.expiresIn * 1000 })
    return response
  }

  numberOf({ value }: AccessToken): number {
    return Number(value.replace('token-', ''))
  }

  /** Fails unless the token was issued by this source and is outside its expiry margin by both clocks. */
  expectUsable({ value }: AccessToken): void {
    const { wall, monotonic, lifetimeMs } = this.#issued.get(value)!
    const elapsedMs = Math.max(Date.now() - wall, performance.now() - monotonic)
    const marginMs = Math.min(10_000, lifetimeMs / 20)
    expect(elapsedMs, 'a token within its expiry margin').toBeLessThan(lifetimeMs - marginMs)
  }
}
