import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import semver from 'semver'
import { publicPackages, type Manifest } from '../public-packages.ts'
import { type LocalRegistry, release, type RunInCopy } from './local-registry.ts'
import { fetchPackage } from './toolbox.ts'

const core = '@tokenwell/core'
/** Packages whose types contain types of core: their users also use core, and pass objects from one to the other. */
const adapters = [
  'axios-interceptor',
  'client-authentication',
  'ky-hook',
  'nestjs-module',
  'opentelemetry',
  'resource-server',
  'testing',
  'token-stores',
]

/** Releases a change of core that breaks its users, and returns the problems of the resulting versions. */
export async function releaseBreakingCore(
  runInCopy: RunInCopy,
  folder: string,
  registry: LocalRegistry,
): Promise<void> {
  const before = publicPackages(folder).map(({ manifest }) => manifest)
  const oldCore = before.find(({ name }) => name === core)
  await writeFile(join(folder, '.changeset/a-break.md'), `---\n'${core}': major\n---\n\nA break.\n`)
  await release(runInCopy, folder, registry)

  const newCore = semver.inc(oldCore?.version ?? '', 'major')
  const problems: string[] = []
  for (const { name, version } of before) {
    const { manifest } = await fetchPackage(registry, name)
    const expected = expectedVersion(name, version, manifest)
    if (manifest.version !== expected) {
      problems.push(`${name} went from ${version} to ${manifest.version} instead of ${expected}`)
    }
    const range = manifest.dependencies?.[core]
    if (range !== undefined && range !== `^${newCore}`) {
      problems.push(`${name} ${manifest.version} wants ${core} ${range} instead of ^${newCore}`)
    }
  }
  if (problems.length > 0) throw new Error(problems.join('\n'))
}

function expectedVersion(name: string, version: string, { dependencies = {} }: Manifest): string | null {
  if (name === core) return semver.inc(version, 'major')
  if (adapters.some((adapter) => name === `@tokenwell/${adapter}`)) {
    return semver.inc(version, version.startsWith('0.') ? 'minor' : 'major')
  }
  return core in dependencies ? semver.inc(version, 'patch') : version
}
