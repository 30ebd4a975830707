import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Actor } from '../registry/application-registry.ts'

/** The parts of the path of an administrator's request. */
export interface AdminRequest {
  Params: { clientId: string; id: string }
}

/** The administrator's token is shared: the audit log has the address only. */
export function actorOf({ ip }: Pick<FastifyRequest, 'ip'>): Actor {
  return { actor: 'administration', address: ip }
}

export const rotation = z.strictObject({ overlapSeconds: z.number().min(0).default(86_400) })
export const newKey = z.strictObject({ key: z.string().min(1) })

interface AnySecret {
  readonly id: string
  readonly prefix: string
  readonly createdAtMs: number
  readonly expiresAtMs?: number | undefined
  readonly lastUsedAtMs?: number | undefined
}

/** Without its hash. */
export function describeSecret({ id, prefix, createdAtMs, expiresAtMs, lastUsedAtMs }: AnySecret): AnySecret {
  return { id, prefix, createdAtMs, expiresAtMs, lastUsedAtMs }
}
