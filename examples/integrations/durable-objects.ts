// Durable Objects: all isolates of a Worker share one token, and one token request, through one object per token.
import { DurableObject, waitUntil } from 'cloudflare:workers'
import {
  clientCredentials,
  createTokenFetch,
  credentialsFrom,
  type TokenFetch,
  type TokenResponse,
  type TokenStore,
} from '@tokenwell/core'
import type { TokenFailure } from '@tokenwell/core/protocol'
import { tokenSharing } from '@tokenwell/core/adapter'

type Slot = 'lease' | 'fallback'

interface Expiring {
  /** By the clock of the object. */
  readonly expiresAt: number
}

interface Stored {
  token: Expiring & { readonly id: string; readonly response: TokenResponse }
  cooldown: Expiring & { readonly error: TokenFailure }
  lease: Expiring & { readonly holder: string; readonly since: number }
  fallback: Stored['lease']
}

/** Everything about one token. Its methods are atomic: they do not wait for anything. */
export class SharedToken extends DurableObject {
  read(): Awaited<ReturnType<TokenStore['read']>> {
    const [token, cooldown] = [this.#find('token'), this.#find('cooldown')]
    const now = Date.now()
    const stored = cooldown && { error: cooldown.error, cooldownMs: cooldown.expiresAt - now }
    if (token === undefined) return stored
    return { id: token.id, response: token.response, remainingMs: token.expiresAt - now, ...stored }
  }

  remove(id: string): void {
    if (this.#find('token')?.id === id) this.ctx.storage.kv.delete('token')
  }

  lease(slot: Slot, holder: string, ttlMs: number): boolean {
    if (this.#find(slot)) return false
    this.#put(slot, { holder, since: Date.now(), expiresAt: Date.now() + ttlMs })
    return true
  }

  write(slot: Slot, holder: string, response: TokenResponse, lifetimeMs: number): string | undefined {
    const lease = this.#leaseOf(slot, holder)
    if (lease === undefined) return undefined
    const id = crypto.randomUUID()
    this.#put('token', { id, response, expiresAt: lease.since + lifetimeMs })
    this.ctx.storage.kv.delete('cooldown')
    return id
  }

  writeCooldown(slot: Slot, holder: string, error: TokenFailure, ttlMs: number): void {
    if (this.#leaseOf(slot, holder)) this.#put('cooldown', { error, expiresAt: Date.now() + ttlMs })
  }

  extend(slot: Slot, holder: string, ttlMs: number): boolean {
    const lease = this.#leaseOf(slot, holder)
    if (lease) this.#put(slot, { ...lease, expiresAt: Date.now() + ttlMs })
    return lease !== undefined
  }

  release(slot: Slot, holder: string): void {
    if (this.#leaseOf(slot, holder)) this.ctx.storage.kv.delete(slot)
  }

  #leaseOf(slot: Slot, holder: string): Stored['lease'] | undefined {
    const lease = this.#find(slot)
    return lease?.holder === holder ? lease : undefined
  }

  #find<Name extends keyof Stored>(name: Name): Stored[Name] | undefined {
    const found = this.ctx.storage.kv.get(name) as Stored[Name] | undefined
    return found && found.expiresAt > Date.now() ? found : undefined
  }

  #put<Name extends keyof Stored>(name: Name, value: Stored[Name]): void {
    this.ctx.storage.kv.put(name, value)
  }
}

export function createDurableTokenStore(objects: Env['TOKENS']): TokenStore {
  return {
    sharing: tokenSharing,
    read: async (key) => objects.getByName(key).read(),
    remove: async (key, id) => objects.getByName(key).remove(id),
    async lease(key, ttlMs, slot) {
      const identity = [slot ?? 'lease', crypto.randomUUID()] as const
      if (!(await objects.getByName(key).lease(...identity, ttlMs))) return undefined
      return {
        write: async (response, ms) => objects.getByName(key).write(...identity, response, ms),
        writeCooldown: async (error, ms) => objects.getByName(key).writeCooldown(...identity, error, ms),
        extend: async (ms) => objects.getByName(key).extend(...identity, ms),
        release: async () => objects.getByName(key).release(...identity),
      }
    },
  }
}

interface Env {
  readonly AUTH_URL: string
  readonly API_URL: string
  readonly CLIENT_ID: string
  readonly CLIENT_SECRET: string
  readonly TOKENS: DurableObjectNamespace<SharedToken>
}

let apiFetch: TokenFetch | undefined

function createApiFetch(env: Env): TokenFetch {
  const tokens = clientCredentials({
    ...credentialsFrom(env),
    waitUntil,
    store: createDurableTokenStore(env.TOKENS),
  })
  return createTokenFetch(tokens, { baseUrl: env.API_URL })
}

// oxlint-disable-next-line import/no-default-export -- Workers require it
export default {
  async fetch(_request: Request, env: Env): Promise<Response> {
    apiFetch ??= createApiFetch(env)
    return apiFetch('/v1/orders')
  },
}
