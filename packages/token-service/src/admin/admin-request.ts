import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { StoredSecret, PublicKey } from '../storage/application.ts'
import type { Actor } from '../storage/audit-storage.ts'

/** The parts of the path of an administrator's request. */
export interface AdminRequest {
  Params: { clientId: string; id: string }
}

/** The header in which the command names the user that runs it. */
export const userHeader = 'tokenwell-user'

/** The administrator's token is shared: whom a request is from is known only as far as the command says it. */
export function actorOf({ ip, headers }: Pick<FastifyRequest, 'ip' | 'headers'>): Actor {
  const user = headers[userHeader]
  const isCommand = typeof user === 'string' && /^[\x21-\x7e]{1,100}$/.test(user)
  return isCommand ? { actorType: 'command', actor: user, address: ip } : { actorType: 'api', address: ip }
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
