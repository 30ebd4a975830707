// `wrangler types` generates these in a project.
declare module 'cloudflare:workers' {
  export function waitUntil(work: Promise<unknown>): void
  export class DurableObject {
    protected readonly ctx: { readonly storage: { readonly kv: SyncStorage } }
  }
}

interface SyncStorage {
  get(key: string): unknown
  put(key: string, value: unknown): void
  delete(key: string): boolean
}

interface DurableObjectNamespace<Target> {
  getByName(name: string): {
    readonly [Name in keyof Target]: Target[Name] extends (...args: infer Args) => infer Result
      ? (...args: Args) => Promise<Awaited<Result>>
      : never
  }
}

declare module 'dynalite' {
  import type { Server } from 'node:http'

  export default function dynalite(options?: { readonly createTableMs?: number }): Server
}
