import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { mkdir, writeFile, cp, symlink } from 'node:fs/promises'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { runServer } from 'verdaccio'
import { run } from '../../run-process.ts'
import { projectFolder, publicPackages } from './public-packages.ts'

export interface LocalRegistry {
  readonly url: string
  /** The registry behind it, for all other packages. */
  readonly upstream: string
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

  return {
    url: `http://${host}/`,
    upstream,
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

/** Runs programs in a copy of the project, which can be versioned and published without an effect on the original. */
export type RunInCopy = (program: string, ...args: string[]) => Promise<string>

/** Copies the work tree, uncommitted changes included, into a new repository. */
export async function copyProject(folder: string, signal: AbortSignal): Promise<RunInCopy> {
  const listing = ['ls-files', '-z', '--cached', '--others', '--exclude-standard']
  const files = (await run('git', listing, { folder: projectFolder })).split('\0').filter(Boolean)
  for (const file of new Set(files)) {
    const from = join(projectFolder, file)
    if (existsSync(from)) await cp(from, join(folder, file))
  }
  await symlink(
    join(projectFolder, 'tools/release/node_modules'),
    join(folder, 'tools/release/node_modules'),
    'junction',
  )
  const environment = {
    ...process.env,
    TURBO_TELEMETRY_DISABLED: '1',
    GIT_AUTHOR_NAME: 'Rehearsal',
    GIT_AUTHOR_EMAIL: 'rehearsal@localhost',
    GIT_COMMITTER_NAME: 'Rehearsal',
    GIT_COMMITTER_EMAIL: 'rehearsal@localhost',
    pnpm_config_verify_deps_before_run: 'false',
  }
  const runInCopy: RunInCopy = (program, ...args) => run(program, args, { folder, environment, signal })
  await runInCopy('git', 'init', '--quiet', '--initial-branch=main')
  await runInCopy('git', 'config', 'core.hooksPath', '.git/no-hooks')
  await commit(runInCopy, 'All')
  return runInCopy
}

export async function commit(runInCopy: RunInCopy, message: string): Promise<void> {
  await runInCopy('git', 'add', '--all')
  await runInCopy('git', 'commit', '--quiet', '--allow-empty', '--message', message)
}

/** Publishes what `tools/pack.ts` has packed. */
export async function publishPacked(registry: LocalRegistry, folder: string): Promise<void> {
  await registry.useIn(folder)
  const packed = join(projectFolder, 'tools/.packed')
  for (const tarball of readdirSync(packed).filter((name) => name.endsWith('.tgz')))
    await run('npm', ['publish', '--registry', registry.url, join(packed, tarball)], { folder })
}
