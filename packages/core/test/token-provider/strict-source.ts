import { expect } from 'vitest'
import { TokenError, type AccessToken, type TokenResponse, type TokenSource } from '@tokenwell/core'
import { ScriptedEndpoint, sourceOf, type ScriptedResponse } from '../scripted-endpoint.ts'

interface Issued {
  readonly wall: number
  readonly monotonic: number
  readonly lifetimeMs: number
}

/** A source that knows what it issued and when, and finds fault with a second request at the same time. */
export class StrictSource {
  /** How many requests there were. */
  asked = 0
  readonly faults: string[] = []
  readonly #issued = new Map<string, Issued>()
  readonly #script: readonly ScriptedResponse[]
  readonly #heedsSignal: boolean

  constructor(script: readonly ScriptedResponse[], heedsSignal: boolean) {
    this.#script = script
    this.#heedsSignal = heedsSignal
  }

  /** The source as one provider sees it: that one never has two requests under way. */
  forOneProvider(): TokenSource {
    let underWay: AbortSignal | undefined
    return {
      cacheKey: () => Promise.resolve('key'),
      requestToken: async ({ signal }) => {
        if (underWay?.aborted === false) this.faults.push('two requests at once')
        underWay = signal
        try {
          return await this.#request(signal)
        } finally {
          if (underWay === signal) underWay = undefined
        }
      },
    }
  }

  async #request(signal: AbortSignal): Promise<TokenResponse> {
    const number = ++this.asked
    const sent = { wall: Date.now(), monotonic: performance.now() }
    const scripted = this.#script[(number - 1) % this.#script.length]!
    const heeded = this.#heedsSignal ? signal : new AbortController().signal
    const body = { access_token: `token-${number}`, token_type: 'Bearer', expires_in: scripted.expiresIn }
    const endpoint = new ScriptedEndpoint(scripted.expiresIn === undefined ? scripted : { ...scripted, body })
    const response = await sourceOf(endpoint).requestToken({ signal: heeded })
    if (response.expiresIn === undefined)
      throw new TokenError({ kind: 'malformed', message: 'no expires_in' })
    this.#issued.set(response.accessToken, { ...sent, lifetimeMs: response.expiresIn * 1000 })
    return response
  }

  numberOf({ value }: AccessToken): number {
    return Number(value.replace('token-', ''))
  }

  /** A token must be of this source, and not past its margin by either clock. */
  expectUsable({ value }: AccessToken): void {
    const { wall, monotonic, lifetimeMs } = this.#issued.get(value)!
    const elapsedMs = Math.max(Date.now() - wall, performance.now() - monotonic)
    const marginMs = Math.min(10_000, lifetimeMs / 20)
    expect(elapsedMs, 'a token past its margin').toBeLessThan(lifetimeMs - marginMs)
  }
}
