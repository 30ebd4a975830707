import { createPackageFromTarballData } from '@arethetypeswrong/core'
import type { Manifest } from '../public-packages.ts'
import type { LocalRegistry } from './local-registry.ts'

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
