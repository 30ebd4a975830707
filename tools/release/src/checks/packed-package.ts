import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { checkPackage, createPackageFromTarballData, type Package } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import type { Manifest, PublicPackage } from '../public-packages.ts'
import { run } from '../run.ts'

/** A package as it would be published. */
export interface PackedPackage extends PublicPackage {
  readonly tarball: Uint8Array<ArrayBuffer>
  readonly contents: Package
  /** Paths inside the package. */
  readonly files: readonly string[]
  readonly packedManifest: Manifest
}

export async function packPackage(published: PublicPackage, into: string): Promise<PackedPackage> {
  const file = join(into, `${basename(published.folder)}.tgz`)
  await run('pnpm', ['pack', '--out', file], { folder: published.folder })
  const tarball = new Uint8Array(await readFile(file))
  const contents = createPackageFromTarballData(tarball)
  const root = `/node_modules/${published.manifest.name}/`
  return {
    ...published,
    tarball,
    contents,
    files: contents.listFiles().map((path) => path.replace(root, '')),
    packedManifest: JSON.parse(contents.readFile(`${root}package.json`)) as Manifest,
  }
}

export async function checkWithPublint({ tarball, manifest }: PackedPackage): Promise<string[]> {
  const { messages } = await publint({ strict: true, pack: { tarball: tarball.buffer } })
  return messages.map((message) => formatMessage(message, manifest, { color: false }) ?? message.code)
}

/** Types and modules must resolve in the same way for `import`, `require`, bundlers and the old `node10`. */
export async function checkModuleTypes({ contents, packedManifest }: PackedPackage): Promise<string[]> {
  if (packedManifest.exports === undefined) return []
  const result = await checkPackage(contents)
  if (!result.types) return ['no types are packed']
  return result.problems.map(
    ({ kind, ...details }) => `${kind} ${JSON.stringify({ ...details, trace: undefined })}`,
  )
}
