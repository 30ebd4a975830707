// The parts of the Workers runtime that the documentation uses.
declare module 'cloudflare:workers' {
  export const env: Readonly<Record<string, string>>
  export function waitUntil(work: Promise<unknown>): void
}
