import { exportJWK, generateKeyPair } from 'jose'
import { describe, expect, it } from 'vitest'
import { createAssertionAuthenticator } from '../../src/oauth/authenticate-by-assertion.ts'
import { createFailedAttemptLimit } from '../../src/oauth/failed-attempt-limit.ts'
import type { PublicJwk, PublicKey } from '../../src/storage/application.ts'
import { createRemoteKeySets } from '../../src/oauth/remote-key-sets.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { claimedClientId } from '../../src/oauth/verify-assertion.ts'
import { assertionFor, keyClientId } from './client-assertion.ts'
import { openTestMemory } from '../storage/open-test-storage.ts'

const rounds = 60
const median = (times: number[]) => times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0

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

/** How long it takes to reject an assertion of a client with these keys, relative to one with the key `known`. */
async function relativeTime(alg: string, keys: PublicKey[] | undefined): Promise<number> {
  const [registered, other] = await Promise.all([
    generateKeyPair(alg, { extractable: true }),
    generateKeyPair(alg),
  ])
  const jwk = (await exportJWK(registered.publicKey)) as PublicJwk
  const known = { keys: [{ id: 'k', name: 'k', createdAtMs: 0, jwk }] }
  const found = keys && { keys }
  const times: [number[], number[]] = [[], []]
  for (let round = 0; round < rounds; round += 1) {
    const assertion = await assertionFor('aud', { key: other.privateKey, header: { alg } })
    const clients = [...[known, found].entries()]
    // The first check after a signature is slower, so each kind comes first in turn.
    for (const [kind, client] of round % 2 ? clients : clients.toReversed()) {
      const before = performance.now()
      const result = authenticate(
        { assertion, clientId: undefined },
        { address: '192.0.2.1', audiences: () => ['aud'] },
        async () => client,
      )
      await expect(result).rejects.toMatchObject({ reason: 'invalid_client' })
      times[kind]?.push(performance.now() - before)
    }
  }
  return median(times[1]) / median(times[0])
}

describe('the time to reject an assertion', () => {
  it.each(['RS256', 'ES256', 'EdDSA'])('is the same for an unknown client (%s)', async (alg) => {
    expect(await relativeTime(alg, undefined)).toBeGreaterThan(0.6)
  })

  it('is the same for a client without keys, or with keys of another type', async () => {
    expect(await relativeTime('ES512', [])).toBeGreaterThan(0.6)
    const { publicKey } = await generateKeyPair('ES256', { extractable: true })
    const jwk = (await exportJWK(publicKey)) as PublicJwk
    const other = { id: 'o', name: 'o', createdAtMs: 0, jwk }
    expect(await relativeTime('ES512', [other])).toBeGreaterThan(0.6)
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
