import { createServer, type AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createTokenService, startTokenService, UserMistake } from '@tokenwell/token-service'

const application = { name: 'demo', clientId: 'demo', clientSecret: 'secret' }

describe('starting a token service', () => {
  it('is ready within 100 ms with memory storage', async () => {
    const times: number[] = []
    // The best of a few, and of more on a busy machine: what it takes, not what else the machine was doing.
    while (times.length < 10 || (Math.min(...times) >= 100 && times.length < 100)) {
      const before = performance.now()
      const service = await startTokenService({ applications: [application] })
      times.push(performance.now() - before)
      await service.close()
    }
    expect(Math.min(...times)).toBeLessThan(100)
  })

  it('says when the port is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void other.close())
    await new Promise((resolve) => other.once('listening', resolve))
    const { port } = other.address() as AddressInfo
    await expect(startTokenService({ port })).rejects.toThrow(`Port ${port} of 127.0.0.1 is in use`)
  })

  it.each([
    [{ storage: 'mysql://x' }, /"memory", "sqlite:FILE" or a postgres:\/\/ URL/],
    [{ storage: 'sqlite:' }, /"memory", "sqlite:FILE" or a postgres:\/\/ URL/],
    [{ storage: 'pglite:old-data' }, /The folder "old-data" is in the format of PGlite/],
    [{ storage: 'postgres://127.0.0.1/x' }, /needs keys/],
    [{ keys: ['short'] }, /5 characters/],
    [{ host: 'no.such.host.invalid' }, /no address no\.such\.host\.invalid/],
    [{ applications: [{ ...application, clientId: '' }] }, /applications\[0\]\.clientId/],
    [
      { applications: [{ ...application, products: ['a, b'] }] },
      /applications\[0\]\.products\[0\].*no comma/,
    ],
    [{ applications: [{ ...application, lifetimeSeconds: 0 }] }, /applications\[0\]\.lifetimeSeconds/],
    [{ applications: [{ ...application, clientSecretExpiresAt: 'soon' }] }, /clientSecretExpiresAt/],
  ])('explains a wrong setting: %o', async (options, message) => {
    const starting = startTokenService(options)
    await expect(starting).rejects.toThrow(message)
    await expect(starting).rejects.toBeInstanceOf(UserMistake)
  })

  it('refuses a sandbox where nobody would listen for it', () => {
    expect(() => createTokenService({ sandbox: true })).toThrow(/startTokenService/)
  })

  it('does not change the options it was given', async () => {
    const options = Object.freeze({ applications: Object.freeze([Object.freeze(application)]) })
    await (await startTokenService(options)).close()
  })
})
