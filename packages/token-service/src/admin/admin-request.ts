import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { StoredSecret } from '../storage/application.ts'
import type { PublicKey } from '../storage/public-key.ts'
import type { Actor } from '../clients/application-registry.ts'

/** The parts of the path of an administrator's request. */
export interface AdminRequest {
  Params: { clientId: string; id: string }
}

/** The administrator's token is shared, so the audit log has only the address. */
export function actorOf({ ip }: Pick<FastifyRequest, 'ip'>): Actor {
  return { actor: 'administration', address: ip }
}

export const naming = z.strictObject({ name: z.string().trim().min(1).max(200) })

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
