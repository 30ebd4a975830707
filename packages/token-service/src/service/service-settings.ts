import type { FastifyBaseLogger } from 'fastify'
import { z } from 'zod'
import { allowedRanges } from '../runtime/ip-addresses.ts'
import { trustedProxies } from '../http/trusted-proxies.ts'
import { systemClock, type Clock } from '../runtime/clock.ts'
import { overlapSeconds, retentionDays } from '../runtime/bounds.ts'
import { UsageError } from '../runtime/usage-error.ts'
import { applicationSchema, rejectWithoutAudience } from '../features/applications/settings.ts'
import {
  productDetails,
  productName,
  productNamePattern,
  scopeDetails,
  scopeName,
} from '../features/catalogue/settings.ts'
import { configuredKeys, type PublicKeyOptions } from '../features/credentials/public-keys.ts'
import { resourceServerSchema } from '../features/resource-servers/settings.ts'
import { rejectInvalidIssuers, trustedIssuerSettings } from '../features/trusted-issuers/settings.ts'
import { openidProviderSettings } from '../features/people/openid-provider-settings.ts'
import { signingAlgorithms } from '../oauth/signing-keys.ts'
import { parseStorageLocation } from '../storage/open-database.ts'
import { boolean, booleanOf, list, numeric, parseSettings, port, setting } from '../runtime/setting.ts'
import type { ApplicationOptions, TokenServiceOptions } from './token-service-options.ts'

/**
 * Every setting, once: what it takes, its default and, unless it is a list of objects or a secret, what it means as a flag. Its
 * names as flag, environment variable and in the configuration file derive from its name here.
 */
export const serviceSettings = z.strictObject({
  port: setting('<number>', 'port to listen on; 0 selects a free port', port.default(0)),
  host: setting('<address>', 'address to listen on', z.string().min(1).default('127.0.0.1')),
  storage: setting(
    '<where>',
    'where data is stored: sqlite:FILE, a postgres:// URL, or memory',
    z.string().default('memory').transform(parseStorageLocation),
  ),
  secretHashKeys: z.array(z.string()).optional(),
  format: setting(
    '<format>',
    'format of token requests and errors: platform, or standard (RFC 6749), which also accepts grant_type in the form',
    z.enum(['platform', 'standard']).default('platform'),
  ),
  signingAlgorithm: setting(
    '<algorithm>',
    'algorithm of JWT access tokens: ES256, RS256 or EdDSA; a change takes effect with a rotation of the signing key',
    z.enum(signingAlgorithms).default('ES256'),
  ),
  // Names of products are checked below, where the message can name the application.
  applications: z
    .array(applicationSchema.extend({ products: z.array(z.string().min(1).max(100)).default([]) }))
    .default([]),
  resourceServers: z.array(resourceServerSchema).default([]),
  trustedIssuers: z.array(trustedIssuerSettings).default([]),
  openidProvider: openidProviderSettings.optional(),
  products: setting(
    '<names>',
    'comma-separated API products to add to the catalogue',
    list(
      z.union(
        [productName, productDetails.extend({ name: productName })],
        'must be names, or objects with a name and a description',
      ),
    ).default([]),
  ),
  scopes: setting(
    '<names>',
    'comma-separated scopes to add to the catalogue',
    list(
      z.union(
        [scopeName, scopeDetails.extend({ name: scopeName })],
        'must be names, or objects with a name, an audience and a description',
      ),
    ).default([]),
  ),
  secretOverlapSeconds: setting(
    '<number>',
    'how long the previous secret of a configured client stays valid',
    numeric(overlapSeconds).default(86_400),
  ),
  failureAttempts: setting(
    '<number>',
    'failed attempts from one address for one client within a minute before further failures get status 429',
    numeric(z.number().int().min(1).max(1_000_000)).default(10),
  ),

  publicUrl: setting(
    '<url>',
    'URL that clients use',
    z
      .url({ protocol: /^https?$/ })
      .regex(/^[^?#]*$/, 'must not contain a query or a fragment')
      .transform((url) => url.replace(/\/+$/, ''))
      .optional(),
  ),
  trustProxy: trustedProxies,
  corsOrigins: setting(
    '<origins>',
    'comma-separated origins whose pages may request tokens, or * (default: none)',
    list(
      z.string().regex(/^(\*|https?:\/\/[^/]+)$/, 'must be an origin, such as https://tools.example.com'),
    ).default([]),
  ),
  metrics: setting(
    '<boolean>',
    'whether to serve /metrics (default: true; false with memory storage)',
    boolean.optional(),
  ),
  adminPort: setting(
    '<number>',
    'port of a second listener for administrators and metrics; requires an administrator token',
    port.optional(),
  ),
  adminHost: setting(
    '<address>',
    'address of the listener for administrators',
    z.string().min(1).default('127.0.0.1'),
  ),
  adminToken: z.string().min(32, 'must have 32 or more characters').optional(),
  auditRetentionDays: setting(
    '<number>',
    'how long the audit log is kept',
    numeric(retentionDays).default(365),
  ),
  usageRetentionDays: setting(
    '<number>',
    'how long the usage data shown in the portal is kept',
    numeric(retentionDays).default(365),
  ),
  jwksAllowedHosts: setting(
    '<hosts>',
    'comma-separated hosts, addresses and CIDR ranges of internal networks that JWK set URLs may point to (default: none)',
    list(z.string().min(1)).default([]),
  ),
  webhookAllowedHosts: setting(
    '<hosts>',
    '',
    z
      .undefined({
        error:
          'was removed with the webhook. Remove it; alert on the metrics of the service, and export acts with `tokenwell-service admin audit --follow`',
      })
      .optional(),
  ),
  sandbox: setting(
    '[port]',
    'for tests: control endpoints on loopback (faults, clock, journal)',
    z
      .preprocess(booleanOf, z.union([z.boolean(), port], 'must be true, false or a port'))
      .default(false)
      .transform((value) => (value === false ? undefined : { port: value === true ? 0 : value })),
  ),
})

const embeddingOptions = serviceSettings.extend({
  portal: z.boolean().default(false),
  fetchKeys: z.custom<typeof fetch>().optional(),
  logger: z.custom<FastifyBaseLogger>().optional(),
  clock: z.custom<Clock>().default(systemClock),
})

type Embedding = z.output<typeof embeddingOptions>

export type ResolvedOptions = Omit<Embedding, 'metrics'> & { readonly metrics: boolean }

/** Every setting; those of an application as well. */
type Given = Record<Exclude<keyof Embedding, 'webhookAllowedHosts'>, unknown> & {
  readonly applications: readonly Record<keyof z.output<typeof applicationSchema>, unknown>[]
}

/** @throws {@link UsageError} that names the setting */
export function resolveOptions(options: TokenServiceOptions): ResolvedOptions {
  // The type check names a setting that programs cannot set.
  const given: Given = options as Required<TokenServiceOptions> & {
    readonly applications: readonly Required<ApplicationOptions>[]
  }
  return checkOptions(parseSettings(embeddingOptions, given))
}

/** Checks what depends on more than one setting. */
export function checkOptions(options: Embedding): ResolvedOptions {
  const { storage, secretHashKeys, applications, resourceServers } = options
  if (storage.kind === 'postgres' && !secretHashKeys?.length) {
    throw new UsageError(
      'The setting "secretHashKeys" is missing. PostgreSQL storage requires at least one key of 32 or more random characters, the same for every instance.',
    )
  }
  if (storage.kind === 'postgres' && options.sandbox) {
    throw new UsageError(
      'The sandbox is not available with PostgreSQL storage. Use memory or SQLite storage.',
    )
  }
  if (options.adminPort !== undefined && options.adminToken === undefined) {
    throw new UsageError(
      'The setting "adminPort" requires an administrator token. Set adminToken, adminTokenFile or TOKENWELL_ADMIN_TOKEN.',
    )
  }
  allowedRanges(options.jwksAllowedHosts, 'jwksAllowedHosts')
  rejectInvalidProducts(applications)
  rejectWithoutAudience(applications)
  rejectInvalidIssuers(options.trustedIssuers)
  for (const [name, clients] of Object.entries({ applications, resourceServers })) {
    rejectDuplicates(name, clients)
    rejectWithoutCredentials(name, clients)
    if (storage.kind !== 'memory') rejectWeakSecrets(name, clients)
  }
  return { ...options, metrics: options.metrics ?? storage.kind !== 'memory' }
}

/** @throws {@link UsageError} if two entries of a setting have the same client ID */
function rejectDuplicates(setting: string, clients: readonly { readonly clientId: string }[]): void {
  const clientIds = clients.map(({ clientId }) => clientId)
  const duplicate = clientIds.find((clientId, index) => clientIds.indexOf(clientId) !== index)
  if (duplicate !== undefined)
    throw new UsageError(`${setting} contains the client ID "${duplicate}" twice. Remove one of the entries.`)
}

/** @throws {@link UsageError} if a client has no credentials, or a public key cannot be used */
function rejectWithoutCredentials(
  setting: string,
  clients: readonly (PublicKeyOptions & {
    readonly clientId: string
    readonly clientSecret?: string | undefined
  })[],
): void {
  for (const client of clients) {
    if (keysOf(setting, client).length > 0 || client.clientSecret !== undefined) continue
    throw new UsageError(
      `"${client.clientId}" in ${setting} has neither a clientSecret nor a public key. Add one of them.`,
    )
  }
}

function keysOf(setting: string, client: PublicKeyOptions & { readonly clientId: string }) {
  try {
    return configuredKeys(client, 0)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    throw new UsageError(`"${client.clientId}" in ${setting} has no usable public key. ${error.message}`)
  }
}

/** @throws {@link UsageError} if a product has a name that a token response cannot list */
function rejectInvalidProducts(
  applications: readonly { readonly clientId: string; readonly products: readonly string[] }[],
): void {
  for (const { clientId, products } of applications) {
    const invalid = products.find((product) => !productNamePattern.test(product))
    if (invalid === undefined) continue
    throw new UsageError(
      `"${clientId}" in applications has the product "${invalid}", whose name must not contain commas or brackets, or start or end with a space.`,
    )
  }
}

const minSecretLength = 16

/** @throws {@link UsageError} if a secret is short enough to be guessed */
function rejectWeakSecrets(
  setting: string,
  clients: readonly { readonly clientId: string; readonly clientSecret?: string | undefined }[],
): void {
  const weak = clients.find(
    ({ clientSecret }) => clientSecret !== undefined && clientSecret.length < minSecretLength,
  )
  if (weak) {
    throw new UsageError(
      `The secret of "${weak.clientId}" in ${setting} is too short. Use ${minSecretLength} or more random characters; only memory storage allows fewer.`,
    )
  }
}
