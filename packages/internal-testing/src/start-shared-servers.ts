import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { startChromium } from './browser.ts'
import { startPostgresServer } from './postgres/private-postgres.ts'
import { sharedServersVariable, type SharedServer } from './shared-server.ts'

const servers = { chromium: startChromium, postgres: startPostgresServer }

/** For `globalSetup`: starts each server when a test file first needs it, and stops it after the last test file. */
export async function setup(): Promise<() => Promise<void>> {
  const started = new Map<string, Promise<SharedServer>>()
  const broker = createServer((request, response) => {
    const name = (request.url ?? '').slice(1) as keyof typeof servers
    const starting = started.get(name) ?? servers[name]()
    started.set(name, starting)
    starting.then(
      ({ url }) => response.end(url),
      (error: unknown) => response.writeHead(500).end(String(error)),
    )
  })
  await new Promise<void>((resolve) => broker.listen(0, '127.0.0.1', resolve))
  process.env[sharedServersVariable] = `http://127.0.0.1:${(broker.address() as AddressInfo).port}`
  return async () => {
    broker.close()
    broker.closeAllConnections()
    const running = await Promise.allSettled(started.values())
    for (const server of running) if (server.status === 'fulfilled') await server.value.stop()
  }
}
