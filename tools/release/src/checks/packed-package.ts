import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, dirname, join, normalize } from 'node:path'
import { checkPackage, createPackageFromTarballData, type Package } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import type { Manifest, PublicPackage } from '../public-packages.ts'
import { run } from '../../../run-process.ts'

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

/** What the declarations of the entries import, directly or through others, is installed with the package. */
export function checkTypeImports({ contents, files, packedManifest }: PackedPackage): string[] {
  const { name, dependencies, peerDependencies } = packedManifest
  const installed = new Set([name, ...Object.keys({ ...dependencies, ...peerDependencies })])
  const entries = targets(packedManifest.exports).map((target) => normalize(target))
  const reached = new Set(entries.filter((target) => /\.d\.c?ts$/.test(target)))
  const problems: string[] = []
  for (const file of reached) {
    // The examples in comments are for programs that have more packages.
    const text = contents.readFile(`/node_modules/${name}/${file}`).replaceAll(/\/\*\*.*?\*\//gs, '')
    for (const [, specifier = ''] of text.matchAll(/(?:\bfrom |\bimport\()['"]([^'"]+)['"]/g)) {
      const [declared] = /^(?:@[^/]+\/)?[^/]+/.exec(specifier)!
      if (specifier.startsWith('.')) {
        const target = join(dirname(file), specifier)
        const found = [target, target.replace(/\.(c?)[jt]s$/, '.d.$1ts')].find((path) => files.includes(path))
        if (found !== undefined && /\.d\.c?ts$/.test(found)) reached.add(found)
      } else if (
        !specifier.startsWith('node:') &&
        !installed.has(declared) &&
        !installed.has(`@types/${declared}`)
      ) {
        problems.push(`${file} imports ${specifier}, which is not installed with the package`)
      }
    }
  }
  return problems
}

const built = /^dist\/(.+?)\.(?:d\.)?c?[jt]s(?:\.map)?$/
/** Shared by the CommonJS modules. */
const runtime = 'dist/_virtual/_rolldown/runtime.cjs'
/** Files for browsers, which the build copies from other packages. */
const assets = 'dist/assets/'
/** Parts of a bundle that several entries share, and the licences of the packages in it. */
const bundled = /^dist\/(?:chunks\/[\w-]+\.c?js(?:\.map)?|third-party-licences\.txt|third-party\.cdx\.json)$/
const always = ['package.json', 'README.md', 'LICENSE']

/** The package contains its sources, their build output and documents for users, and nothing else. */
export function checkPackedFiles({ files, folder, packedManifest }: PackedPackage): string[] {
  const named = packedManifest.files ?? []
  const problems = always.filter((file) => !files.includes(file)).map((file) => `${file} is not packed`)
  for (const file of files) {
    if (file === runtime || bundled.test(file)) continue
    const [, source] = built.exec(file) ?? []
    if (source !== undefined) {
      if (!existsSync(join(folder, 'src', `${source}.ts`)))
        problems.push(`${file} is packed, but its source is gone: delete dist and build again`)
    } else if (!file.startsWith(assets) && (file.startsWith('dist/') || !isExpected(file, named))) {
      problems.push(`${file} must not be packed`)
    }
  }
  for (const file of files) {
    const [, declared] = /^src\/(.+)\.ts$/.exec(file) ?? []
    if (declared !== undefined && !files.includes(`dist/${declared}.d.ts`))
      problems.push(`${file} is not built: build again`)
  }
  for (const target of targets(packedManifest.exports, packedManifest.bin)) {
    if (!files.includes(target.replace(/^\.\//, '')))
      problems.push(`${target} is named in package.json, but not packed`)
  }
  return problems
}

function isExpected(file: string, named: readonly string[]): boolean {
  return (
    [...always, 'CHANGELOG.md', ...named].includes(file) ||
    (file.startsWith('src/') && !/\/tests?\/|\.(?:test|soak)\.|\.env|\.tgz/.test(file))
  )
}

function targets(...nodes: readonly unknown[]): string[] {
  return nodes.flatMap((node) => {
    if (typeof node === 'string') return [node]
    return typeof node === 'object' && node !== null ? targets(...Object.values(node)) : []
  })
}
