/** Folders of a package's `src`, top down: each imports only from those below it. The package's entries alone are outside of them. */
export const rooms = {
  'packages/core': ['attach', 'sources', 'provider', 'sharing', 'protocol', 'runtime'],
  'packages/resource-server': ['nestjs', 'verifier', 'checks', 'http'],
  'packages/token-service': [
    'command',
    'service',
    'admin',
    'sandbox',
    'http',
    'features',
    'portal',
    'oauth',
    'storage',
    'runtime',
  ],
} satisfies Readonly<Record<string, readonly string[]>>

/** What the sources of each package and application may import from the others: folders, or files. */
export const allowedImports: Readonly<Record<string, readonly string[]>> = {
  'packages/core': [],
  'packages/axios-interceptor': ['packages/core'],
  'packages/ky-hook': ['packages/core'],
  'packages/nestjs-module': ['packages/core', 'packages/axios-interceptor'],
  'packages/client-authentication': ['packages/core'],
  'packages/resource-server': ['packages/core'],
  'packages/token-stores': ['packages/core'],
  'packages/opentelemetry': ['packages/core'],
  'packages/internal-testing': ['packages/core'],
  // Of the verifier one entry alone, which is for nobody else: what a service and a verifier must decide alike.
  'packages/token-service': ['packages/core', 'packages/resource-server/src/internal.ts'],
  'packages/cli': [
    'packages/core',
    'packages/token-stores',
    'packages/client-authentication',
    'packages/token-service',
  ],
  'apps/speech-api': ['packages/resource-server'],
  'apps/speech-to-text': [
    'packages/core',
    'packages/axios-interceptor',
    'packages/ky-hook',
    'packages/nestjs-module',
    'packages/token-service',
    'apps/speech-api',
  ],
}
