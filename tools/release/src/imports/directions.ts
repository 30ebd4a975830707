/** What a feature of the token service shows and offers; the rest of its folder is what other features may use. */
const surfaces = String.raw`[/-](?:pages|page|forms|form|section|table|admin|operations)\.ts$`

/**
 * Rooms of a package, top down: each imports only from those below it. Only the package's entries are outside of them. A
 * name is a folder of `src`, or the pattern of the files' paths in it.
 */
export const rooms = {
  'packages/core': ['attach', 'provider', 'sharing', 'sources', 'protocol', 'runtime'],
  'packages/resource-server': ['nestjs', 'verifier', 'checks', 'http'],
  'packages/token-service': [
    'command',
    `service/(?!context)`,
    `features.*${surfaces}`,
    'portal',
    'admin',
    'sandbox',
    'http',
    'service/context',
    'oauth',
    `features(?!.*${surfaces})/`,
    'storage',
    'runtime',
  ],
} satisfies Readonly<Record<string, readonly string[]>>

/** The pattern of the files of a room. */
export function filesOf(folder: string, room: string): string {
  return `^${folder}/src/${/^[\w-]+$/.test(room) ? `${room}/` : room}`
}

/** The beginning of such a pattern, as messages name the room. */
export function titleOf(room: string): string {
  return room.replace(/[^\w/].*$/, '')
}

const service = '^packages/token-service/src/'

/** What files of the token service may not import, besides those of a higher room; `but`: what they may import nevertheless. */
export const furtherDirections: readonly {
  readonly name: string
  readonly from: string
  readonly to: string
  readonly but?: string
}[] = [
  {
    // A feature may use the acts and the storage of another one.
    name: 'import of what another feature shows or offers',
    from: `${service}features/([^/]+)/`,
    to: `${service}features/.+${surfaces}`,
    but: `${service}features/$1/`,
  },
  {
    name: 'import of pages of the portal',
    from: String.raw`${service}(?!features/all-pages\.ts$)`,
    to: String.raw`${service}portal/.*pages\.ts$`,
  },
  {
    name: 'import of acts into a storage',
    from: String.raw`${service}features/.+/storage\.ts$`,
    to: String.raw`${service}features/.+acts\.ts$`,
  },
]

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
  'packages/internal-testing': ['packages/core'],
  'packages/token-service': ['packages/core'],
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
