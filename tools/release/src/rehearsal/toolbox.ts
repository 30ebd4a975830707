import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createPackageFromTarballData } from '@arethetypeswrong/core'
import type { Manifest } from '../public-packages.ts'
import { run } from '../run.ts'
import type { LocalRegistry } from './local-registry.ts'

/** The oldest version in `engines`, and the newest of each maintained line. */
const nodeVersions = ['20.19.0', '22.12.0', '22.13.0', '22', '24', '26']
const typescriptVersions = ['5.9', '6', '7']

export interface Toolbox {
  /** By exact version. */
  readonly nodes: ReadonlyMap<string, string>
  readonly compilers: ReadonlyMap<string, string>
}

/** Installs several versions of Node and TypeScript, both from the npm registry, side by side. */
export async function fillToolbox(folder: string, signal: AbortSignal): Promise<Toolbox> {
  const platform = `${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
  const name = platform === 'darwin-arm64' ? `node-bin-${platform}` : `node-${platform}`
  const dependencies = {
    ...Object.fromEntries(nodeVersions.map((version) => [`node-${version}`, `npm:${name}@${version}`])),
    ...Object.fromEntries(
      typescriptVersions.map((version) => [`typescript-${version}`, `npm:typescript@${version}`]),
    ),
  }
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }))
  await run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts'], { folder, signal })
  const modules = join(folder, 'node_modules')
  const nodes = new Map<string, string>()
  for (const version of nodeVersions) {
    const program = join(
      modules,
      `node-${version}`,
      'bin',
      process.platform === 'win32' ? 'node.exe' : 'node',
    )
    nodes.set((await run(program, ['--version'], { folder, signal })).trim().slice(1), program)
  }
  const compilers = typescriptVersions.map(
    (version) => [version, join(modules, `typescript-${version}`, 'bin/tsc')] as const,
  )
  return { nodes, compilers: new Map(compilers) }
}

export interface PublishedPackage {
  readonly manifest: Manifest
  readonly readme: string
}

/** The newest version of a package in a registry. */
export async function fetchPackage(registry: LocalRegistry, name: string): Promise<PublishedPackage> {
  const document = (await (await fetch(`${registry.url}${name.replace('/', '%2f')}`)).json()) as {
    readonly 'dist-tags': Record<string, string>
    readonly versions: Record<string, Manifest & { readonly dist: { readonly tarball: string } }>
  }
  const manifest = document.versions[document['dist-tags']['latest'] ?? '']
  if (manifest === undefined) throw new Error(`The registry has no version of ${name}`)
  const tarball = await (await fetch(manifest.dist.tarball)).arrayBuffer()
  const contents = createPackageFromTarballData(new Uint8Array(tarball))
  return { manifest, readme: contents.readFile(`/node_modules/${name}/README.md`) }
}
