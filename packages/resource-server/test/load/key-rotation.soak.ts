import { setTimeout as delay } from 'node:timers/promises'
import { createTokenVerifier } from '@tokenwell/resource-server'
import { startTokenService } from '@tokenwell/token-service'
import { postgresIsAbsent, startPostgres } from '@tokenwell/internal-testing/postgres'
import { createSoakTable } from '@tokenwell/internal-testing/soak-table'
import { expect, it, onTestFinished } from 'vitest'

const table = createSoakTable()

it.skipIf(postgresIsAbsent)(
  'rejects no valid JWT while two instances of the service rotate their key, for 30 s',
  async () => {
    const postgres = await startPostgres()
    onTestFinished(() => postgres.stop())
    let offsetMs = 0
    const clock = { now: () => Date.now() + offsetMs, monotonic: () => performance.now() + offsetMs }
    const adminToken = 'administrator-token-0123456789-abcdef'
    const client = { clientId: 'orders', clientSecret: 'orders-secret-0123456789' }
    const options = {
      storage: await postgres.createDatabase(),
      secretHashKeys: ['an instance key of forty characters, more'],
      publicUrl: 'https://auth.example.com',
      applications: [{ ...client, name: 'orders', tokenFormat: 'jwt' as const, audiences: ['orders'] }],
      clock,
    }
    const services = [
      await startTokenService({ ...options, adminPort: 0, adminToken }),
      await startTokenService(options),
    ]
    onTestFinished(async () => void (await Promise.all(services.map((service) => service.close()))))
    let keyRequests = 0
    const verifiers = services.map(({ authUrl }) =>
      createTokenVerifier({
        issuer: options.publicUrl,
        audience: 'orders',
        jwksUrl: `${authUrl}/.well-known/jwks.json`,
        // Each verification checks a signature.
        maxCachedTokens: 1,
        clock,
        fetch: (input, init) => {
          keyRequests += 1
          return fetch(input, init)
        },
      }),
    )
    const tokenOf = async ({ authUrl }: (typeof services)[number]) => {
      const url = `${authUrl}/oauth/client_credential/accesstoken?grant_type=client_credentials`
      const body = new URLSearchParams({ client_id: client.clientId, client_secret: client.clientSecret })
      return ((await (await fetch(url, { method: 'POST', body })).json()) as { access_token: string })
        .access_token
    }
    const tokens = [await tokenOf(services[0]!), await tokenOf(services[1]!)]
    const startedAt = performance.now()
    const isRunning = () => performance.now() - startedAt < 30_000
    const issue = services.map(async (service) => {
      while (isRunning()) {
        tokens.push(await tokenOf(service))
        await delay(5)
      }
    })
    let calls = 0
    let failures = 0
    let worstMs = 0
    // 1,000 a second, of the 500 latest tokens, from both instances.
    const verify = async () => {
      for (; isRunning(); await delay(10)) {
        const due = Math.floor(performance.now() - startedAt) - calls
        await Promise.all(
          Array.from({ length: Math.max(0, due) }, async (_, index) => {
            calls += 1
            const token = tokens.at(-1 - ((calls * 7) % Math.min(tokens.length, 500)))!
            const began = performance.now()
            await verifiers[index % 2]!.verify(`Bearer ${token}`).catch(() => (failures += 1))
            worstMs = Math.max(worstMs, performance.now() - began)
          }),
        )
      }
    }
    const rotate = async () => {
      await delay(10_000)
      // The next key has to be published for 15 minutes.
      offsetMs += 900_000
      const headers = { authorization: `Bearer ${adminToken}` }
      const url = `${services[0]!.adminUrl!}/signing-keys/rotation`
      expect((await fetch(url, { method: 'POST', headers })).status).toBe(200)
    }
    await table.measure('JWTs of two instances, whose key is rotated', async () => {
      await Promise.all([...issue, verify(), rotate()])
      const beforeFlood = keyRequests
      const unknown = (index: number) =>
        `Bearer ${Buffer.from(JSON.stringify({ alg: 'ES256', typ: 'at+jwt', kid: `unknown-${index}` })).toString('base64url')}.${tokens[0]!.split('.').slice(1).join('.')}`
      await Promise.allSettled(
        Array.from({ length: 1_000 }, (_, index) => verifiers[index % 2]!.verify(unknown(index))),
      )
      expect(keyRequests - beforeFlood).toBeLessThanOrEqual(2)
      return {
        calls,
        failures,
        worstMs,
        tokenRequests: tokens.length,
        figures: `key requests ${keyRequests}`,
      }
    })
    expect(failures).toBe(0)
    expect(calls).toBeGreaterThan(25_000)
  },
)
