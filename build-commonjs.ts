// Run in a package's folder after its ES modules are built: writes the same modules for `require`, and their types.
import { readFileSync } from 'node:fs'
import { glob, readFile, writeFile } from 'node:fs/promises'
import { rolldown } from 'rolldown'

interface Manifest {
  readonly exports: Record<string, string | { readonly default: string }>
}

const { exports } = JSON.parse(await readFile('package.json', 'utf8')) as Manifest
const bundle = await rolldown({
  input: Object.values(exports).flatMap((entry) => (typeof entry === 'string' ? [] : [entry.default])),
  platform: 'node',
  external: /^[^./](?!:)/,
  treeshake: false,
})
await bundle.write({
  dir: 'dist',
  format: 'cjs',
  strict: true,
  entryFileNames: '[name].cjs',
  preserveModules: true,
  preserveModulesRoot: 'dist',
  // Jest has no `import()` in CommonJS.
  dynamicImportInCjs: false,
  banner: ({ name, facadeModuleId }) => (name.startsWith('_virtual') ? '' : licenceIn(facadeModuleId!)),
})
await bundle.close()

for await (const file of glob('dist/**/*.d.ts')) {
  const types = await readFile(file, 'utf8')
  await writeFile(
    file.replace(/ts$/, 'cts'),
    types.replaceAll(/(['"]\.{1,2}\/[^'"]+)\.[jt]s(?=['"])/g, '$1.cjs'),
  )
}

/** The comment that a module begins with, if it is not about its code. */
function licenceIn(file: string): string {
  return /^\/\*[^*][^]*?\*\//.exec(readFileSync(file, 'utf8'))?.[0] ?? ''
}
