import { posix } from 'node:path'
import { parseSync } from 'oxc-parser'
import type { PackedPackage } from './packed-package.ts'

/** What the entries, the commands and their types import is installed with the package. */
export function checkImportedPackages({ contents, files, packedManifest }: PackedPackage): string[] {
  const {
    name,
    exports = {},
    bin = {},
    dependencies,
    peerDependencies,
    optionalDependencies,
  } = packedManifest
  const installed = Object.keys({ ...dependencies, ...peerDependencies, ...optionalDependencies, [name]: '' })
  const entries = Object.values(exports).flatMap((entry) =>
    typeof entry === 'string' ? [] : [entry.default, entry.types.default],
  )
  const waiting = [...entries, ...Object.values(bin)].map((file) => posix.normalize(file))
  const seen = new Set<string>()
  const missing = new Set<string>()
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (seen.has(file)) continue
    seen.add(file)
    const text = contents.readFile(`/node_modules/${name}/${file}`)
    for (const to of modulesImportedBy(file, text)) {
      const types = file.endsWith('.d.ts')
      const local = posix.join(posix.dirname(file), types ? to.replace(/\.[jt]s$/, '.d.ts') : to)
      if (to.startsWith('.')) waiting.push(...files.filter((each) => each === local))
      else if (!to.startsWith('node:') && !installed.some((each) => `${to}/`.startsWith(`${each}/`)))
        missing.add(`${file} imports ${to}, which is not installed with the package`)
    }
  }
  return [...missing]
}

/** The modules of all imports and exports, `import()` of a fixed name among them. */
function modulesImportedBy(file: string, text: string): string[] {
  const { staticImports, staticExports, dynamicImports } = parseSync(file, text).module
  const exports = staticExports.flatMap(({ entries }) => entries)
  return [
    ...[...staticImports, ...exports].flatMap(({ moduleRequest }) => moduleRequest?.value ?? []),
    ...dynamicImports.flatMap(({ moduleRequest: { start, end } }) => {
      const [, , name] = /^(['"])(.*)\1$/.exec(text.slice(start, end)) ?? []
      return name ?? []
    }),
  ]
}
