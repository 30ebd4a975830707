import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Fastify from 'fastify'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createLateRoutes } from '../../src/http/late-routes.ts'

describe('routes that are loaded when they are needed', () => {
  it('are loaded again after a failure, which is logged', async () => {
    const errors: unknown[] = []
    const failure = new Error('A file is missing.')
    let attempts = 0
    const routes = createLateRoutes(
      async () => {
        attempts += 1
        if (attempts === 1) throw failure
        return Fastify().get('/', () => 'loaded')
      },
      (error) => errors.push(error),
    )
    const server = createServer(routes.respond).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await new Promise((resolve) => server.once('listening', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const first = await fetch(url)
    expect([first.status, first.headers.get('connection'), await first.text()]).toEqual([500, 'close', ''])
    expect(await (await fetch(url)).text()).toBe('loaded')
    expect(await (await fetch(url)).text()).toBe('loaded')
    expect([attempts, errors]).toEqual([2, [failure]])
    await routes.close()
  })

  it('can be closed before they are loaded, or could not be', async () => {
    const errors: unknown[] = []
    const routes = createLateRoutes(
      () => Promise.reject(new Error('A file is missing.')),
      (error) => errors.push(error),
    )
    await routes.close()
    await expect(routes.load()).rejects.toThrow('A file is missing.')
    await routes.close()
  })
})
