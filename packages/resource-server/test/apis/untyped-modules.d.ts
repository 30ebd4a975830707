declare module 'workerd' {
  /** Path of the program. */
  const path: string
  export default path
}

declare module 'cloudflare:workers' {
  export function waitUntil(work: Promise<unknown>): void
}
