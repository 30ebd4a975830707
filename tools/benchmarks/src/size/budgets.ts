/** The maximum cost of a package: its current cost and a small margin. */
export interface Budget {
  /** Of a bundle of all its exports, minified and gzipped, without dependencies. */
  readonly bytes?: number
  /** Of a bundle of the exports that a web page imports. */
  readonly page?: { readonly imports: string; readonly bytes: number }
  /** Packages that are installed with it. */
  readonly dependencies: number
  /** Processor time of a Node process that imports it, relative to one that imports nothing. */
  readonly start?: number
}

/** By folder in `packages`. Raise one only if users get something for it. */
export const budgets: Readonly<Record<string, Budget>> = {
  core: {
    bytes: 34_200,
    page: { imports: 'backendTokens, createTokenFetch', bytes: 18_700 },
    dependencies: 0,
    start: 1.8,
  },
  'axios-interceptor': { bytes: 3_800, dependencies: 1 },
  'ky-hook': { bytes: 520, dependencies: 1 },
  'nestjs-module': { bytes: 3_200, dependencies: 2 },
  'token-stores': { bytes: 7_500, dependencies: 1 },
  'resource-server': { dependencies: 6 },
  'client-authentication': { dependencies: 2 },
  opentelemetry: { bytes: 3_000, dependencies: 1 },
  cli: { dependencies: 6 },
  testing: { dependencies: 24 },
  // With openid-client, for log-in through a provider.
  'token-service': { dependencies: 59, start: 13 },
}
