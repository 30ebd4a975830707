import { relative } from 'node:path'
import { projectFolder, readManifest, type Entry } from '../public-packages.ts'
import type { PackedPackage } from './packed-package.ts'

const installScripts = ['preinstall', 'install', 'postinstall', 'prepare', 'preprepare', 'postprepare']

/** The fields that registries and package managers read must exist and be correct. */
export function checkManifest({ folder, packedManifest: manifest }: PackedPackage): string[] {
  const problems: string[] = []
  const expect = (right: boolean, problem: string) => {
    if (!right) problems.push(`package.json ${problem}`)
  }
  const { repository } = readManifest(projectFolder)
  const { description = '', keywords = [], scripts = {} } = manifest

  expect(manifest.license === 'MIT', 'must have "license": "MIT"')
  expect(manifest.type === 'module', 'must have "type": "module"')
  expect(manifest.sideEffects === false, 'must have "sideEffects": false')
  expect(description.length > 20, 'needs a description')
  expect(keywords.length >= 3, 'needs at least three keywords')
  expect(manifest.repository?.url === repository?.url, `must name the repository ${repository?.url}`)
  expect(
    manifest.repository?.directory === relative(projectFolder, folder),
    'must name its directory in the repository',
  )
  expect(manifest.engines?.node !== undefined, 'needs engines.node')
  expect(manifest.publishConfig?.access === 'public', 'must have publishConfig.access "public"')
  for (const script of installScripts) {
    expect(!(script in scripts), `has the script "${script}": nothing may run while a package is installed`)
  }
  for (const field of ['dependencies', 'peerDependencies', 'optionalDependencies'] as const) {
    for (const [name, range] of Object.entries(manifest[field] ?? {})) {
      const bounded = /^(?:\^\d[\d.]*(?: \|\| )?)+$/.test(range)
      expect(bounded, `has the ${field} range "${name}": "${range}" instead of "^…"`)
    }
  }
  return problems
}

/**
 * Each entry is an ES module and a CommonJS module. Loaders that can `require` an ES module (Node, bundlers) get the ES
 * module then too, so that a program has one copy of the package's state. The fields beside `exports` are for programs
 * that do not support it.
 */
export function checkEntries({ packedManifest: manifest }: PackedPackage): string[] {
  const { main, module, types, typesVersions, exports = {} } = manifest
  const entries = Object.entries(exports).filter((entry): entry is [string, Entry] => {
    return typeof entry[1] === 'object'
  })
  if (entries.length === 0) return []
  const named = { main, module, types, typesVersions, exports: Object.fromEntries(entries) }
  const subpaths = entries.filter(([name]) => name !== '.')
  const expected = {
    main: './dist/index.cjs',
    module: './dist/index.js',
    types: './dist/index.d.cts',
    typesVersions:
      subpaths.length > 0
        ? { '*': Object.fromEntries(subpaths.map(([name, to]) => [name.slice(2), [`${builtAs(to)}.d.cts`]])) }
        : undefined,
    exports: Object.fromEntries(entries.map(([name, to]) => [name, entryOf(builtAs(to))])),
  }
  if (JSON.stringify(named) === JSON.stringify(expected)) return []
  return [
    `package.json must name its entries in this way and order:\n${JSON.stringify(expected, undefined, 2)}`,
  ]
}

/** Path of an entry without its file extension. */
function builtAs(entry: Entry): string {
  return entry.default.replace(/\.js$/, '')
}

function entryOf(built: string) {
  return {
    '@tokenwell/source': `${built.replace('./dist/', './src/')}.ts`,
    types: { require: `${built}.d.cts`, default: `${built}.d.ts` },
    'module-sync': `${built}.js`,
    bun: `${built}.js`,
    module: `${built}.js`,
    require: `${built}.cjs`,
    default: `${built}.js`,
  }
}
