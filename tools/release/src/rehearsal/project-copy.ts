import { existsSync } from 'node:fs'
import { cp, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { projectFolder } from '../public-packages.ts'
import { run } from '../run.ts'
import type { LocalRegistry } from './local-registry.ts'

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

/** Versions and publishes as the maintainers do, but to a local registry. */
export async function release(runInCopy: RunInCopy, folder: string, registry: LocalRegistry): Promise<void> {
  await runInCopy('node', 'tools/release/src/version-packages.ts')
  await commit(runInCopy, 'Version packages')
  await runInCopy('pnpm', 'turbo', 'run', 'build', '--filter', './packages/*')
  await registry.useIn(folder)
  await runInCopy('pnpm', 'changeset', 'publish')
}
