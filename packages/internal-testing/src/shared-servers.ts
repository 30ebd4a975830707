import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A server that test files share. */
export interface SharedServer {
  readonly url: string
  readonly stop: () => Promise<void>
}

const servers = {
  chromium: async (): Promise<SharedServer> => (await import('./browser.ts')).startChromium(),
  postgres: async (): Promise<SharedServer> =>
    (await import('./postgres/private-postgres.ts')).startPostgresServer(),
}

const variable = 'TOKENWELL_SHARED_SERVERS'

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
  process.env[variable] = `http://127.0.0.1:${(broker.address() as AddressInfo).port}`
  return async () => {
    broker.close()
    broker.closeAllConnections()
    const running = await Promise.allSettled(started.values())
    for (const server of running) if (server.status === 'fulfilled') await server.value.stop()
  }
}

/** The URL of a shared server; undefined outside Vitest. */
export async function sharedServer(name: keyof typeof servers): Promise<string | undefined> {
  const broker = process.env[variable]
  if (broker === undefined) return undefined
  const response = await fetch(`${broker}/${name}`)
  const text = await response.text()
  if (!response.ok) throw new Error(text)
  return text
}
