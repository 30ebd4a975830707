import type { Entry } from '../public-packages.ts'
import type { PackedPackage } from './packed-package.ts'

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
