/** Frameworks such as Next.js cache responses of `fetch` unless told not to. Some runtimes reject the option. */
export function noStore(): { cache?: 'no-store' } {
  const { Request } = globalThis
  return Request && 'cache' in Request.prototype ? { cache: 'no-store' } : {}
}
