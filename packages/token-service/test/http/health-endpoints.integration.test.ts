import { describe, expect, it } from 'vitest'
import { testService } from '../test-service.ts'

const get = async (url: string) => {
  const response = await fetch(url)
  return [response.status, await response.text()]
}

describe('/readyz', () => {
  it('reports that the service is about to stop, which is still healthy', async () => {
    const service = await testService()
    const { authUrl } = service
    const stopped = performance.now()
    const closed = service.close({ drainSeconds: 0.5 })
    expect(await get(`${authUrl}/readyz`)).toEqual([503, '{"status":"stopping"}'])
    expect(await get(`${authUrl}/healthz`)).toEqual([200, '{"status":"ok"}'])
    await closed
    expect(performance.now() - stopped).toBeGreaterThan(490)
  })

  it('reports that the database cannot be used', async () => {
    const { authUrl } = await testService({ storage: 'postgres://127.0.0.1:1/x', keys: ['k'.repeat(32)] })
    expect(await get(`${authUrl}/readyz`)).toEqual([503, '{"status":"storage unavailable"}'])
  })
})
