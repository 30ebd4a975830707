import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@tokenwell/internal-testing/free-port'
import { redisInstalled, startRedis, type RedisServer } from '@tokenwell/internal-testing/redis'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectUsable, openIoRedis, openNodeRedis } from './describe-client.ts'

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
