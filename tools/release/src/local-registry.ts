import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { runServer } from 'verdaccio'
import { run } from '../../run-process.ts'
import { projectFolder, publicPackages } from './public-packages.ts'

export interface LocalRegistry {
  readonly url: string
  /** The registry behind it, for all other packages. */
  readonly upstream: string
  /** A package that it does not accept, as if the connection had broken. */
  failing: string | undefined
  /** Makes npm and pnpm in a folder use only this registry. */
  useIn(folder: string): Promise<void>
  close(): Promise<void>
}

/** Starts a registry on loopback that stores our packages, and gets all others from the registry that npm uses here. */
export async function startLocalRegistry(folder: string): Promise<LocalRegistry> {
  await mkdir(folder, { recursive: true })
  const own = publicPackages().map(({ manifest }) => manifest.name)
  const upstream = (await run('npm', ['config', 'get', 'registry'], { folder })).trim()
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

  const registry: LocalRegistry = {
    url: `http://${host}/`,
    upstream,
    failing: undefined,
    useIn: (target) =>
      // Publishing requires a login; any account works here.
      writeFile(join(target, '.npmrc'), `registry=http://${host}/\n//${host}/:_authToken=rehearsal\n`),
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  const listeners = server.listeners('request')
  server.removeAllListeners('request')
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const name = decodeURIComponent(request.url ?? '').slice(1)
    if (request.method === 'PUT' && name === registry.failing) response.writeHead(403).end('{}')
    else for (const listener of listeners) listener.call(server, request, response)
  })
  return registry
}

/** Publishes what `tools/pack.ts` has packed. */
export async function publishPacked(registry: LocalRegistry, folder: string): Promise<void> {
  await registry.useIn(folder)
  const packed = join(projectFolder, 'tools/.packed')
  for (const tarball of readdirSync(packed).filter((name) => name.endsWith('.tgz')))
    await run('npm', ['publish', '--registry', registry.url, join(packed, tarball)], { folder })
}
