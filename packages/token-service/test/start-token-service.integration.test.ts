import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createTokenService, startTokenService, UsageError } from '@tokenwell/token-service'
import { temporaryFolder } from './service-process.ts'

const application = { name: 'demo', clientId: 'demo', clientSecret: 'secret' }

describe('starting a token service', () => {
  it('is ready within 100 ms with memory storage', async () => {
    const times: number[] = []
    // The best of a few attempts, or of more on a busy machine.
    while (times.length < 10 || (Math.min(...times) >= 100 && times.length < 100)) {
      const before = performance.now()
      const service = await startTokenService({ applications: [application] })
      times.push(performance.now() - before)
      await service.close()
    }
    expect(Math.min(...times)).toBeLessThan(100)
  })

  it('reports that the port is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void other.close())
    await new Promise((resolve) => other.once('listening', resolve))
    const { port } = other.address() as AddressInfo
    await expect(startTokenService({ port })).rejects.toThrow(`Port ${port} on 127.0.0.1 is in use`)
  })

  it.each([
    [{ storage: 'mysql://x' }, /"memory", "sqlite:FILE" or a postgres:\/\/ URL/],
    [{ storage: 'sqlite:' }, /"memory", "sqlite:FILE" or a postgres:\/\/ URL/],
    [{ storage: 'pglite:old-data' }, /The folder old-data has the format of PGlite/],
    [{ storage: 'postgres://127.0.0.1/x' }, /keys is missing/],
    [{ keys: ['short'] }, /5 characters/],
    [{ jwksAllowedHosts: ['10.0.0.0/33'] }, /jwksAllowedHosts contains the invalid value "10\.0\.0\.0\/33"/],
    [{ host: 'no.such.host.invalid' }, /no\.such\.host\.invalid is not an address/],
    [{ host: '192.0.2.1' }, /192\.0\.2\.1 is not an address/],
    [{ applications: [{ ...application, clientId: '' }] }, /applications\[0\]\.clientId/],
    [
      { applications: [{ ...application, products: ['a, b'] }] },
      /applications\[0\]\.products\[0\].*not contain commas/,
    ],
    [{ applications: [{ ...application, lifetimeSeconds: 0 }] }, /applications\[0\]\.lifetimeSeconds/],
    [{ applications: [{ ...application, clientSecretExpiresAt: 'soon' }] }, /clientSecretExpiresAt/],
  ])('reports an invalid option: %o', async (options, message) => {
    const starting = startTokenService(options)
    await expect(starting).rejects.toThrow(message)
    await expect(starting).rejects.toBeInstanceOf(UsageError)
    await expect(starting).rejects.toHaveProperty('name', 'UsageError')
  })

  it('reports what the routes cannot use at the start, if the storage outlives the process', async () => {
    const storage = `sqlite:${join(temporaryFolder(), 'data.db')}`
    const starting = startTokenService({ storage, logger: {} as never })
    await expect(starting).rejects.toThrow(/logger instance/)
  })

  it.each([
    ['sandbox', { sandbox: true }],
    ['admin', { admin: { port: 0, token: 'a'.repeat(32) } }],
  ] as const)('rejects %s without a listener', (option, options) => {
    expect(() => createTokenService(options)).toThrow(
      `createTokenService does not support ${option}, which has its own listener. Use startTokenService.`,
    )
  })

  it("does not change the caller's options", async () => {
    const options = Object.freeze({ applications: Object.freeze([Object.freeze(application)]) })
    await (await startTokenService(options)).close()
  })
})
