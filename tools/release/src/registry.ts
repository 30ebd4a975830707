import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { publicPackages } from './public-packages.ts'
import { startLocalRegistry, copyProject, release } from './rehearsal/local-registry.ts'
import { run } from './run.ts'

// `pnpm registry`: serves the packages as they would be published, so that you can try them in a project of your own.

const folder = await mkdtemp(join(tmpdir(), 'tokenwell-registry-'))
const stopping = new AbortController()
const stopped = new Promise<void>((resolve) => {
  for (const name of ['SIGINT', 'SIGTERM'] as const)
    process.once(name, () => {
      stopping.abort()
      resolve()
    })
})
const stack = new AsyncDisposableStack()
stack.defer(() => rm(folder, { recursive: true, force: true }))
try {
  const names = publicPackages().map(({ manifest }) => manifest.name)
  const upstream = (await run('npm', ['config', 'get', 'registry'], { folder })).trim()
  const registry = await startLocalRegistry(join(folder, 'registry'), names, upstream)
  stack.defer(() => registry.close())
  process.stderr.write('Building and packing a copy of the project …\n')
  const project = join(folder, 'project')
  const runInCopy = await copyProject(project, stopping.signal)
  await runInCopy('pnpm', 'install', '--frozen-lockfile', '--prefer-offline')
  await release(runInCopy, project, registry)
  process.stdout.write(`The registry has ${names.join(', ')}, and loads other packages from ${upstream}.
In your project, run:

  npm install --registry ${registry.url} @tokenwell/core

Press Ctrl+C to stop the registry.
`)
  await stopped
} catch (error) {
  if (!stopping.signal.aborted) throw error
} finally {
  await stack.disposeAsync()
}
