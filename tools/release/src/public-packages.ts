import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The project's folder. */
export const projectFolder = fileURLToPath(new URL('../../../', import.meta.url))

export interface Manifest {
  readonly name: string
  readonly version: string
  readonly private?: boolean
  readonly description?: string
  readonly keywords?: string[]
  readonly license?: string
  readonly repository?: { readonly url: string; readonly directory?: string }
  readonly type?: string
  readonly sideEffects?: boolean
  readonly bin?: Record<string, string>
  readonly main?: string
  readonly module?: string
  readonly types?: string
  readonly typesVersions?: Record<string, Record<string, string[]>>
  readonly exports?: Record<string, string | Entry>
  readonly files?: string[]
  readonly scripts?: Record<string, string>
  readonly dependencies?: Record<string, string>
  readonly peerDependencies?: Record<string, string>
  readonly optionalDependencies?: Record<string, string>
  readonly engines?: { readonly node?: string }
  readonly publishConfig?: { readonly access?: string }
}

/** One entry of `exports`: the first condition that a loader knows applies. */
export interface Entry {
  readonly '@tokenwell/source'?: string
  readonly types: { readonly require: string; readonly default: string }
  readonly default: string
}

export interface PublicPackage {
  readonly manifest: Manifest
  /** Absolute. */
  readonly folder: string
}

/** Every package under `packages/` that is published. */
export function publicPackages(project = projectFolder): PublicPackage[] {
  const parent = join(project, 'packages')
  return readdirSync(parent)
    .map((name) => join(parent, name))
    .filter((folder) => existsSync(join(folder, 'package.json')))
    .map((folder) => ({ folder, manifest: readManifest(folder) }))
    .filter(({ manifest }) => manifest.private !== true)
}

export function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
}
