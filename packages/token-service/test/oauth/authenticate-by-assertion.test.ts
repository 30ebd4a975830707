import { exportJWK, generateKeyPair } from 'jose'
import { describe, expect, it, vi } from 'vitest'
import { createAssertionAuthenticator } from '../../src/oauth/authenticate-by-assertion.ts'
import { createFailedAttemptLimit } from '../../src/oauth/failed-attempt-limit.ts'
import type { PublicKey } from '../../src/storage/application.ts'
import { createRemoteKeySets } from '../../src/oauth/remote-key-sets.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { claimedClientId } from '../../src/oauth/verify-assertion.ts'
import { assertionFor, keyClientId } from './client-assertion.ts'
import { openTestMemory } from '../storage/open-test-storage.ts'

const storage = await openTestMemory()
const authenticate = createAssertionAuthenticator({
  assertions: storage.assertions,
  clock: systemClock,
  failedAttempts: createFailedAttemptLimit(storage.failures, systemClock, {
    attempts: 1e9,
    windowSeconds: 60,
  }),
  keySets: async () => createRemoteKeySets({ allowedHosts: [], warn: () => {} }),
})

/** The operations with keys that rejecting an assertion takes: nearly all of its time. `pnpm soak` measures that. */
async function operationsFor(alg: string, keys: readonly PublicKey[] | undefined) {
  const other = await generateKeyPair(alg)
  const assertion = await assertionFor('aud', { key: other.privateKey, header: { alg } })
  const imported = vi.spyOn(crypto.subtle, 'importKey')
  const verified = vi.spyOn(crypto.subtle, 'verify')
  const result = authenticate(
    { assertion, clientId: undefined },
    { address: '192.0.2.1', audiences: () => ['aud'] },
    async () => keys && { keys },
  )
  await expect(result).rejects.toMatchObject({ reason: 'invalid_client' })
  const operations = {
    imported: imported.mock.calls.map(([format, , algorithm]) => [format, algorithm]),
    verified: verified.mock.calls.map(([algorithm, key]) => [algorithm, key.algorithm]),
  }
  vi.restoreAllMocks()
  return operations
}

async function keyFor(alg: string): Promise<PublicKey> {
  const { publicKey } = await generateKeyPair(alg, { extractable: true })
  return { id: 'k', name: 'k', createdAtMs: 0, jwk: await exportJWK(publicKey) }
}

describe('rejecting an assertion takes the same operations with keys', () => {
  it.each(['RS256', 'ES256', 'EdDSA'])('for an unknown client (%s)', async (alg) => {
    const known = await operationsFor(alg, [await keyFor(alg)])
    expect([known.imported.length, known.verified.length]).toEqual([1, 1])
    // The second time too, when what an unknown client needs was created before.
    for (const _ of [1, 2]) expect(await operationsFor(alg, undefined)).toEqual(known)
  })

  it('for a client without keys, or with keys of another type', async () => {
    const known = await operationsFor('ES512', [await keyFor('ES512')])
    expect(await operationsFor('ES512', [])).toEqual(known)
    // That a key is of another type is found at once.
    const { verified } = await operationsFor('ES512', [await keyFor('ES256')])
    expect(verified).toEqual(known.verified)
  })
})

it.each([
  ['that exists', { keys: [] }, keyClientId],
  ['but not one that does not exist', undefined, undefined],
])('an error names a client %s', async (_name, client, clientId) => {
  const result = authenticate(
    { assertion: await assertionFor('aud'), clientId: undefined },
    { address: '192.0.2.1', audiences: () => ['aud'] },
    async () => client,
  )
  await expect(result).rejects.toMatchObject({ reason: 'invalid_client', details: { clientId } })
})

it.each(['\0', 'a\nb', '\ud800', ''])(
  'takes the subject %j for no client ID, which no database stores',
  async (sub) => {
    expect(claimedClientId(await assertionFor('audience', { claims: { sub } }))).toBeUndefined()
  },
)
