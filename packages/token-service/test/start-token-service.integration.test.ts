import { createServer, type AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createTokenService, startTokenService, UsageError } from '@tokenwell/token-service'

const application = { name: 'demo', clientId: 'demo', clientSecret: 'secret' }

describe('starting a token service', () => {
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
    [{ storage: 'postgres://127.0.0.1/x' }, /secretHashKeys" is missing/],
    [{ secretHashKeys: ['short'] }, /5 characters/],
    [{ jwksAllowedHosts: ['10.0.0.0/33'] }, /jwksAllowedHosts contains the invalid value "10\.0\.0\.0\/33"/],
    [{ host: 'no.such.host.invalid' }, /no\.such\.host\.invalid is not an address/],
    [{ host: '192.0.2.1' }, /192\.0\.2\.1 is not an address/],
    [{ applications: [{ ...application, clientId: '' }] }, /applications\[0\]\.clientId/],
    [
      { applications: [{ ...application, products: ['a, b'] }] },
      /"demo" in applications has the product "a, b", whose name must not contain commas/,
    ],
    [{ applications: [{ ...application, lifetimeSeconds: 0 }] }, /applications\[0\]\.lifetimeSeconds/],
    [{ applications: [{ ...application, clientSecretExpiresAt: 'soon' }] }, /clientSecretExpiresAt/],
  ])('reports an invalid option: %o', async (options, message) => {
    const starting = startTokenService(options)
    await expect(starting).rejects.toThrow(message)
    await expect(starting).rejects.toBeInstanceOf(UsageError)
    await expect(starting).rejects.toHaveProperty('name', 'UsageError')
  })

  it('reports at the start what the routes cannot use', async () => {
    const starting = startTokenService({ logger: {} as never })
    await expect(starting).rejects.toThrow(/logger instance/)
  })

  it.each([
    ['sandbox', { sandbox: true }],
    ['adminPort', { adminPort: 0, adminToken: 'a'.repeat(32) }],
  ] as const)('rejects %s without a listener', (option, options) => {
    expect(() => createTokenService(options)).toThrow(
      `createTokenService does not support ${option}, which has its own listener. Use startTokenService.`,
    )
  })

  it("does not change the caller's options", async () => {
    const options = Object.freeze({ applications: Object.freeze([Object.freeze(application)]) })
    const service = await startTokenService(options)
    await service.close()
    expect(options.applications).toEqual([application])
  })
})
