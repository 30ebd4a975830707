/** The maximum cost of a package: its current cost and a small margin. */
export interface Budget {
  /** Of a bundle of all its exports, minified and gzipped, without dependencies. */
  readonly bytes?: number
  /** Of bundles of what certain programs import. */
  readonly programs?: Readonly<Record<string, { readonly imports: string; readonly bytes: number }>>
  /** Packages that are installed with it. */
  readonly dependencies: number
  /** Processor time of a Node process that imports it, relative to one that imports nothing. */
  readonly start?: number
}

/** By folder in `packages`. Raise one only if users get something for it. */
export const budgets: Readonly<Record<string, Budget>> = {
  core: {
    // With the tests for token stores and zod's schema, which only the entries `testing` and `protocol` load.
    bytes: 43_200,
    programs: {
      'first lines': { imports: 'clientCredentials, createTokenFetch, credentialsFrom', bytes: 28_000 },
      page: { imports: 'backendTokens, createTokenFetch', bytes: 19_700 },
    },
    dependencies: 0,
    start: 1.5,
  },
  'axios-interceptor': { bytes: 3_800, dependencies: 1 },
  'ky-hook': { bytes: 380, dependencies: 1 },
  'nestjs-module': { bytes: 3_600, dependencies: 2 },
  'token-stores': { bytes: 7_700, dependencies: 1 },
  'resource-server': { dependencies: 6 },
  'client-authentication': { dependencies: 2 },
  opentelemetry: { bytes: 3_200, dependencies: 1 },
  cli: { dependencies: 6 },
  // With openid-client, for log-in through a provider.
  'token-service': { dependencies: 58, start: 11 },
}
