// What the documentation's page about Workers uses of that runtime.
declare module 'cloudflare:workers' {
  export const env: Readonly<Record<string, string>>
  export function waitUntil(work: Promise<unknown>): void
}
