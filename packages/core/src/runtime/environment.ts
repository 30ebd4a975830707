/** The environment variables: neither browsers nor Workers have any; nor are they there when a bundler replaces them. */
export function environment(): Readonly<Record<string, string | undefined>> {
  return (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env ?? {}
}

/** Whether this is a web page or one of its workers: other runtimes with workers name themselves in the user agent. */
export function runsInBrowser(): boolean {
  const { window, navigator, WorkerGlobalScope } = globalThis as {
    window?: { document?: unknown }
    navigator?: { userAgent?: string }
    WorkerGlobalScope?: unknown
  }
  if (window?.document) return true
  return WorkerGlobalScope !== undefined && (navigator?.userAgent ?? '').startsWith('Mozilla/')
}

/** Whether the runtime drops work that continues after a request has ended, unless it is handed to `waitUntil`. */
export function dropsBackgroundWork(): boolean {
  const { navigator, EdgeRuntime } = globalThis as {
    navigator?: { userAgent?: string }
    EdgeRuntime?: unknown
  }
  return navigator?.userAgent === 'Cloudflare-Workers' || EdgeRuntime !== undefined
}

/** Frameworks such as Next.js cache responses of `fetch` unless told not to. Some runtimes reject the option. */
export function noStore(): { cache?: 'no-store' } {
  const { Request } = globalThis
  return Request && 'cache' in Request.prototype ? { cache: 'no-store' } : {}
}
