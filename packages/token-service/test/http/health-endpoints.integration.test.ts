import Fastify from 'fastify'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { healthEndpoints } from '../../src/http/health-endpoints.ts'
import { openMemory } from '../../src/storage/sqlite/open-sqlite.ts'
import { testService } from '../test-service.ts'

const get = async (url: string) => {
  const response = await fetch(url)
  return [response.status, await response.text()]
}

describe('/readyz', () => {
  it('reports that the service is about to stop, which is still healthy', async () => {
    const service = await testService()
    const { authUrl } = service
    // Loads the routes, which takes time on a busy machine.
    await get(`${authUrl}/healthz`)
    const stopped = performance.now()
    const closed = service.close({ drainSeconds: 1 })
    expect(await get(`${authUrl}/readyz`)).toEqual([503, '{"status":"stopping"}'])
    expect(await get(`${authUrl}/healthz`)).toEqual([200, '{"status":"ok"}'])
    await closed
    expect(performance.now() - stopped).toBeGreaterThan(990)
  })

  it('reports that the database cannot be used', async () => {
    const { authUrl } = await testService({
      storage: 'postgres://127.0.0.1:1/x',
      secretHashKeys: ['k'.repeat(32)],
    })
    expect(await get(`${authUrl}/readyz`)).toEqual([503, '{"status":"storage unavailable"}'])
  })

  it('reports after 2 s that the database does not respond', async () => {
    const server = Fastify()
    const probe = vi.fn(() => new Promise<void>(() => {}))
    healthEndpoints(server, { ...(await openMemory()), probe }, () => false)
    await server.ready()
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const response = server.inject('/readyz').then(({ statusCode, body }) => [statusCode, body])
    await expect.poll(() => probe).toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(2_000)
    expect(await response).toEqual([503, '{"status":"storage unavailable"}'])
  })
})
