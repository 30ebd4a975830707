import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { publishPacked, startLocalRegistry } from './local-registry.ts'

// `pnpm registry`: serves the packages as they would be published, so that you can try them in a project of your own.

const folder = await mkdtemp(join(tmpdir(), 'tokenwell-registry-'))
const stopped = new Promise<void>((resolve) => {
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => resolve())
})
process.stdout.write(
  'The packages are packed. Starting the registry and publishing them takes about 20 s …\n',
)
const began = performance.now()
await using stack = new AsyncDisposableStack()
stack.defer(() => rm(folder, { recursive: true, force: true }))
const registry = await startLocalRegistry(join(folder, 'registry'))
stack.defer(() => registry.close())
await publishPacked(registry, folder)
process.stdout
  .write(`The registry is ready after ${Math.round((performance.now() - began) / 1_000)} s. It has all packages of this repository, and gets others from ${registry.upstream}.

In the folder of your project, let npm, pnpm and yarn use it:

  echo 'registry=${registry.url}' >> .npmrc
  npm install @tokenwell/core

Remove that line afterwards, and the entries of your lock file that name ${registry.url}.
Press Ctrl+C to stop the registry.
`)
await stopped
