import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { createClient, createClientPool, RESP_TYPES } from 'redis'
import { createClient as createClient5 } from 'redis-5'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '@tokenwell/internal-testing/free-port'
import { redisInstalled, startRedis, type RedisServer } from '@tokenwell/internal-testing/redis'
import { createRedisTokenStore, type NodeRedisClient } from '@tokenwell/token-stores/redis'
import { describeClient, expectUsable, openNodeRedis, openIoRedis } from './describe-client.ts'

describe.skipIf(!redisInstalled)('a standalone server', () => {
  let server: RedisServer
  beforeAll(async () => {
    server = await startRedis()
  })
  afterAll(() => server[Symbol.asyncDispose]())

  describeClient('redis 6', () => openNodeRedis(createClient({ url: server.url })))
  describeClient(
    'redis 6 with encryption, RESP2 and values as bytes',
    () => {
      const typeMapping = { [RESP_TYPES.BLOB_STRING]: Buffer }
      return openNodeRedis(createClient({ url: server.url, RESP: 2, commandOptions: { typeMapping } }))
    },
    {
      encryptionKeys: [
        crypto.getRandomValues(new Uint8Array(32)),
        crypto.getRandomValues(new Uint8Array(32)),
      ],
    },
  )

  it.each([
    ['redis 5', () => openNodeRedis(createClient5({ url: server.url }))],
    ['a pool', () => openNodeRedis(createClientPool({ url: server.url }))],
  ])('works with %s', async (_, create) => {
    await expectUsable(await create())
  })

  it('works with a client that repeats each command, as some do after a failover', async () => {
    const { client, close } = await openNodeRedis(createClient({ url: server.url }))
    const repeating: NodeRedisClient = {
      isOpen: true,
      eval: (...call) => client.eval(...call).then(() => client.eval(...call)),
      evalSha: (...call) => client.evalSha(...call).then(() => client.evalSha(...call)),
    }
    await expectUsable({ client: repeating, close })
  })

  it.each([
    ['set back after the lease was acquired', 3_600_000, undefined],
    ['not changed', 0, expect.any(String)],
    ['set forward past the expiry of the token', -3_600_000, undefined],
  ])('writes only tokens that can be valid when the clock of Redis is %s', async (_, aheadMs, written) => {
    const client = await createClient({ url: server.url }).connect()
    // The third and fourth argument of a write are times by the clock of Redis when the lease was acquired.
    const shift = <Options extends { arguments: string[] }>(call: Options): Options => ({
      ...call,
      arguments: call.arguments.map((text, at) => (at < 2 ? text : String(Number(text) + aheadMs))),
    })
    const shifted: NodeRedisClient = {
      isOpen: true,
      eval: (script, call) => client.eval(script, shift(call)),
      evalSha: (sha1, call) => client.evalSha(sha1, shift(call)),
    }
    const lease = await createRedisTokenStore({ client: shifted }).lease(crypto.randomUUID(), 5_000)
    const response = { accessToken: 'token', tokenType: 'Bearer', scope: [] } as const
    expect(await lease!.write(response, 60_000)).toEqual(written)
    client.destroy()
  })
})

describe.skipIf(!redisInstalled)('a Redis server with TLS', () => {
  const folder = mkdtempSync(join(tmpdir(), 'redis-tls-'))
  const [certificate, key] = [join(folder, 'certificate.pem'), join(folder, 'key.pem')]
  let redis: RedisServer
  let port: number
  let ca: string
  beforeAll(async () => {
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
    const files = ['-keyout', key, '-out', certificate]
    const kind = [
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-days',
      '1',
    ]
    execFileSync('openssl', ['req', ...kind, ...files, ...subject], { stdio: 'ignore' })
    ca = readFileSync(certificate, 'utf8')
    port = await freePort()
    const tls = ['--tls-port', `${port}`, '--tls-cert-file', certificate, '--tls-key-file', key]
    redis = await startRedis([...tls, '--tls-ca-cert-file', certificate, '--tls-auth-clients', 'no'])
  })
  afterAll(async () => {
    await redis?.[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true })
  })

  it('works with redis', async () => {
    const socket = { host: '127.0.0.1', port, tls: true, ca } as const
    await expectUsable(await openNodeRedis(createClient({ socket })))
  })

  it('works with ioredis', async () => {
    await expectUsable(
      await openIoRedis(new Redis({ host: '127.0.0.1', port, tls: { ca }, lazyConnect: true })),
    )
  })

  it('is not used by a client that does not know its certificate', async () => {
    const socket = { host: '127.0.0.1', port, tls: true, reconnectStrategy: false } as const
    await expect(
      createClient({ socket })
        .on('error', () => {})
        .connect(),
    ).rejects.toThrow(/certificate/)
  })
})
