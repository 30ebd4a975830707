/**
 * Whether a promise of one request may be awaited by others. Workers drop the I/O of a request that has ended:
 * promises that depend on it never settle, unless it was handed to `waitUntil`.
 */
export function sharesWork({ waitUntil }: { readonly waitUntil?: unknown }): boolean {
  return waitUntil !== undefined || globalThis.navigator?.userAgent !== 'Cloudflare-Workers'
}
