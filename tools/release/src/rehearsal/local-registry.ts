import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { runServer } from 'verdaccio'

export interface LocalRegistry {
  readonly url: string
  /** Makes npm and pnpm in a folder use only this registry. */
  useIn(folder: string): Promise<void>
  close(): Promise<void>
}

/** Starts a registry on loopback that stores the named packages and proxies all others from upstream. */
export async function startLocalRegistry(
  folder: string,
  own: readonly string[],
  upstream: string,
): Promise<LocalRegistry> {
  await mkdir(folder, { recursive: true })
  const everybody = { access: ['$all'], publish: ['$all'] }
  const configuration = {
    self_path: folder,
    storage: join(folder, 'storage'),
    auth: { htpasswd: { file: join(folder, 'htpasswd') } },
    uplinks: { upstream: { url: upstream, timeout: '60s', agent_options: { keepAlive: false } } },
    packages: {
      ...Object.fromEntries(own.map((name) => [name, everybody])),
      '**': { access: ['$all'], proxy: ['upstream'] },
    },
    log: { type: 'file', path: join(folder, 'registry.log'), level: 'warn' },
    web: { enable: false },
  }
  const server = (await runServer(configuration)) as Server
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`

  return {
    url: `http://${host}/`,
    useIn: (target) =>
      // Publishing requires a login; any account works here.
      writeFile(join(target, '.npmrc'), `registry=http://${host}/\n//${host}/:_authToken=rehearsal\n`),
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
