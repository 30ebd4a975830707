import { parsePublicKeys } from './parse-public-keys.ts'
import type { PublicKey } from '../storage/public-key.ts'
import type { Clock } from '../runtime/clock.ts'
import { publicKeys, withKeys, withNewName, withoutKey } from './public-keys.ts'

type ChangeKeys = (
  clientId: string,
  change: (keys: readonly PublicKey[]) => readonly PublicKey[],
) => Promise<void>

/** Adds, renames and removes the public keys of clients; each change is written to the audit log. */
export function createKeyRegistry(
  changeKeys: ChangeKeys,
  audit: (event: string, clientId: string, detail: string) => void,
  clock: Clock,
) {
  return {
    async addKeys(clientId: string, text: string, name?: string): Promise<readonly PublicKey[]> {
      const added = publicKeys(parsePublicKeys(text), clock.now(), name)
      await changeKeys(clientId, (keys) => withKeys(keys, added))
      for (const { id } of added) audit('key_added', clientId, id)
      return added
    },
    async renameKey(clientId: string, keyId: string, name: string): Promise<void> {
      await changeKeys(clientId, (keys) => withNewName(keys, keyId, name))
      audit('key_renamed', clientId, keyId)
    },
    async removeKey(clientId: string, keyId: string): Promise<void> {
      await changeKeys(clientId, (keys) => withoutKey(keys, keyId, clock.now()))
      audit('key_removed', clientId, keyId)
    },
  }
}
