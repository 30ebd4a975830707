// `wrangler types` generates this in a project.
declare module 'cloudflare:workers' {
  export function waitUntil(work: Promise<unknown>): void
}
