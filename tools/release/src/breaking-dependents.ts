import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PublicPackage } from './public-packages.ts'

/** A release that `changeset status --output` plans. */
export interface Release {
  readonly name: string
  readonly type: 'major' | 'minor' | 'patch' | 'none'
  readonly oldVersion: string
}

export interface BreakingDependent {
  readonly name: string
  readonly type: 'major' | 'minor'
  readonly because: string
}

/**
 * The packages that a planned breaking release breaks too: those whose types contain types of the other package. Users of
 * both must upgrade both together, so an adapter that requires a new core must not be released as a patch.
 */
export function breakingDependents(
  releases: readonly Release[],
  packages: readonly PublicPackage[],
): BreakingDependent[] {
  const found = new Map<string, BreakingDependent>()
  const breaks = (name: string) =>
    found.has(name) || releases.some((one) => one.name === name && isBreaking(one))
  for (let before = -1; before < found.size;) {
    before = found.size
    for (const { manifest, folder } of packages.filter(({ manifest: { name } }) => !breaks(name))) {
      const because = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }).find(
        (name) => breaks(name) && isInTypesOf(folder, name),
      )
      if (because === undefined) continue
      const type = manifest.version.startsWith('0.') ? 'minor' : 'major'
      found.set(manifest.name, { name: manifest.name, type, because })
    }
  }
  return [...found.values()]
}

function isBreaking({ type, oldVersion }: Release): boolean {
  return type === 'major' || (type === 'minor' && oldVersion.startsWith('0.'))
}

function isInTypesOf(folder: string, name: string): boolean {
  const reports = join(folder, 'etc')
  if (!existsSync(reports)) return false
  return readdirSync(reports).some((file) =>
    readFileSync(join(reports, file), 'utf8').includes(`from '${name}'`),
  )
}
