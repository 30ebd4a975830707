import { createRequire } from 'node:module'
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { rolldown } from 'rolldown'

interface Manifest {
  readonly version: string
  readonly dependencies?: Record<string, string>
}

/** What an installation of these packages adds on disk, without those in `beside`. */
export function installed(
  packages: readonly string[],
  beside: readonly string[] = [],
): { packages: number; bytes: number } {
  const there = closure(beside, import.meta.url)
  const added = [...closure(packages, import.meta.url)].filter(([folder]) => !there.has(folder))
  return { packages: added.length, bytes: added.reduce((sum, [, bytes]) => sum + bytes, 0) }
}

export function installedVersion(name: string): string {
  return manifestOf(folderOf(name, import.meta.url)).version
}

/** How many packages are installed with the one in this folder. */
export function dependencyCount(folder: string): number {
  const direct = Object.keys(manifestOf(folder).dependencies ?? {})
  return closure(direct, join(folder, 'package.json')).size
}

/** Size by folder of the packages and all their dependencies. */
function closure(packages: readonly string[], from: string): Map<string, number> {
  const found = new Map<string, number>()
  const add = (name: string, parent: string): void => {
    const folder = folderOf(name, parent)
    if (found.has(folder)) return
    found.set(folder, bytesOf(folder))
    for (const dependency of Object.keys(manifestOf(folder).dependencies ?? {})) {
      add(dependency, join(folder, 'package.json'))
    }
  }
  for (const name of packages) add(name, from)
  return found
}

function folderOf(name: string, from: string): string {
  for (const folder of createRequire(from).resolve.paths(name) ?? []) {
    if (existsSync(join(folder, name, 'package.json'))) return realpathSync(join(folder, name))
  }
  throw new Error(`${name} is not installed`)
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
}

function bytesOf(path: string): number {
  if (basename(path) === 'node_modules') return 0
  const status = statSync(path)
  if (!status.isDirectory()) return status.size
  return readdirSync(path).reduce((sum, name) => sum + bytesOf(join(path, name)), 0)
}

/** Size of a bundle of this file, minified and gzipped. */
export async function bundledBytes(input: string, external: readonly (string | RegExp)[]): Promise<number> {
  const bundle = await rolldown({ input, external: [...external], platform: 'node', logLevel: 'silent' })
  const { output } = await bundle.generate({ format: 'esm', minify: true, codeSplitting: false })
  return gzipSync(output[0].code, { level: 9 }).length
}
