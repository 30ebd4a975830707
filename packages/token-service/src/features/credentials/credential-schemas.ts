import { z } from 'zod'
import { name } from '../../runtime/bounds.ts'
import type { PublicKey, StoredSecret } from '../../storage/application.ts'
import { ms, named } from '../operation.ts'

const use = { createdAtMs: ms, expiresAtMs: ms.optional(), lastUsedAtMs: ms.optional() }

/** A secret in responses. */
export const secret = z.looseObject({
  id: z.string(),
  prefix: z.string().describe('The first characters of the client secret.'),
  ...use,
})

/** A public key in responses. */
export const key = named(
  'Key',
  z.looseObject({
    id: z.string(),
    name: z.string(),
    ...use,
    jwk: z
      .looseObject({})
      .optional()
      .describe('The public key (RFC 7517, section 4), unless `jwksUrl` is set.'),
    jwksUrl: z.string().optional().describe('The URL of a JWK set (RFC 7517, section 5).'),
  }),
)

/** An application or a resource server in responses. */
export const client = z.looseObject({
  id: z.string(),
  clientId: z.string(),
  name: z.string(),
  createdAtMs: ms,
  revision: z.int(),
})

export const credentials = { secrets: z.array(secret), keys: z.array(key) }

export const newCredentials = named(
  'NewCredentials',
  z.object({
    clientId: z.string(),
    clientSecret: z.string().describe('Shown in this response only.'),
  }),
)

/** What applications, resource servers and keys are called. */
export const naming = z.strictObject({ name })

interface Credentials {
  readonly secrets: readonly StoredSecret[]
  readonly keys: readonly PublicKey[]
}

export function credentialIds({ secrets, keys }: Credentials): string[] {
  return [...secrets, ...keys].map(({ id }) => id)
}

/** Without hashes. */
export function describeCredentials({ secrets, keys }: Credentials, lastUses: ReadonlyMap<string, number>) {
  return {
    secrets: secrets.map(({ id, prefix, createdAtMs, expiresAtMs }) => ({
      id,
      prefix,
      createdAtMs,
      expiresAtMs,
      lastUsedAtMs: lastUses.get(id),
    })),
    keys: keys.map((key) => ({ ...key, lastUsedAtMs: lastUses.get(key.id) })),
  }
}
