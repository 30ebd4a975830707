import { randomUUID } from 'node:crypto'
import { keyName, type KeyMaterial, type PublicKey } from '../keys/public-key.ts'
import { UsageError } from '../platform/usage-error.ts'
import type { ApplicationStorage } from '../storage/storage.ts'

const maxKeys = 10
const attempts = 5

/** An ID is never used twice: tokens of a key that was removed stay revoked when the same key is added again. */
export function publicKeys(
  materials: readonly KeyMaterial[],
  { nowMs, configured }: { nowMs: number; configured?: boolean },
): PublicKey[] {
  return materials.map((material) => ({
    ...material,
    id: randomUUID(),
    name: keyName(material),
    createdAtMs: nowMs,
    ...(configured && { configured }),
  }))
}

/**
 * Changes the keys of an application, even while others change it. `change` returns `undefined` if nothing is to be
 * changed.
 *
 * @throws {@link UsageError} if it would have more than ten keys
 */
export async function changeKeys(
  applications: Pick<ApplicationStorage, 'findClient' | 'update'>,
  clientId: string,
  change: (keys: readonly PublicKey[]) => readonly PublicKey[] | undefined,
): Promise<void> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const client = await applications.findClient(clientId)
    const keys = client && change(client.application.keys)
    if (!keys) return
    if (keys.length > maxKeys) {
      throw new UsageError(
        `"${clientId}" would have ${keys.length} public keys; ${maxKeys} are allowed. Remove one first.`,
      )
    }
    const { id, revision } = client.application
    if (await applications.update(id, { keys }, revision)) return
  }
  throw new Error(`The application "${clientId}" is changed too often.`)
}
