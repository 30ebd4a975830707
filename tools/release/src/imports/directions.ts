/**
 * Rooms of a package, top down: each folder of `src` imports only from those below it. Only the package's entries are
 * outside of them.
 */
export const rooms = {
  'packages/core': ['attach', 'provider', 'sharing', 'sources', 'protocol', 'runtime'],
  'packages/resource-server': ['nestjs', 'verifier', 'checks', 'http'],
  'packages/token-service': [
    'command',
    'service',
    'portal',
    'admin',
    'sandbox',
    'http',
    'oauth',
    'webhook',
    'clients',
    'storage',
    'runtime',
  ],
} as const satisfies Readonly<Record<string, readonly string[]>>

/** What the sources of each package and application may import from the others. */
export const allowedImports: Readonly<Record<string, readonly string[]>> = {
  'packages/core': [],
  'packages/axios-interceptor': ['packages/core'],
  'packages/ky-hook': ['packages/core'],
  'packages/nestjs-module': ['packages/core', 'packages/axios-interceptor'],
  'packages/client-authentication': ['packages/core'],
  'packages/resource-server': ['packages/core'],
  'packages/token-stores': ['packages/core'],
  'packages/opentelemetry': ['packages/core'],
  'packages/testing': ['packages/core'],
  'packages/internal-testing': ['packages/core', 'packages/testing'],
  'packages/token-service': [],
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
