// Run in a package's folder after its ES modules are built: writes the same modules for `require`, and their types.
import { readFileSync } from 'node:fs'
import { glob, readFile, rm, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { rolldown, type Plugin } from 'rolldown'
import { thirdParty } from './third-party.ts'

interface Manifest {
  readonly exports: Record<string, string | { readonly default: string }>
  readonly dependencies?: Record<string, string>
}

const { exports, dependencies } = JSON.parse(await readFile('package.json', 'utf8')) as Manifest
const joseFile = dependencies?.['jose'] === undefined ? undefined : await bundleJose()
const withJose: Plugin = {
  name: 'with-jose',
  resolveId: (source) => (source === 'jose' && joseFile !== undefined ? joseFile : undefined),
}
const bundle = await rolldown({
  input: Object.values(exports).flatMap((entry) => (typeof entry === 'string' ? [] : [entry.default])),
  platform: 'node',
  external: joseFile === undefined ? /^[^./](?!:)/ : /^(?!jose$)[^./](?!:)/,
  treeshake: false,
  plugins: [withJose],
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
if (joseFile !== undefined) await rm(joseFile)

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

/**
 * The parts of jose that the package uses, in one ES module. It is an ES module alone, which Jest in CommonJS cannot load, and an
 * older version beside it must not take its place: so the modules for `require` carry it.
 */
async function bundleJose(): Promise<string> {
  const names = new Set<string>()
  for await (const file of glob('dist/**/*.js')) {
    for (const [, list] of (await readFile(file, 'utf8')).matchAll(/import \{([^}]*)\} from ['"]jose['"]/g))
      for (const name of list!.split(',')) names.add(name.trim().replace(/ as .*/s, ''))
  }
  names.delete('')
  const entry: Plugin = {
    name: 'used-of-jose',
    resolveId: (source) => (source === 'used-of-jose' ? resolve('used-of-jose.js') : undefined),
    load: (id) =>
      id === resolve('used-of-jose.js') ? `export { ${[...names].join(', ')} } from 'jose'` : undefined,
  }
  const jose = await rolldown({
    input: 'used-of-jose',
    platform: 'neutral',
    treeshake: { moduleSideEffects: false },
    plugins: [entry, thirdParty],
  })
  await jose.write({ dir: 'dist', format: 'esm', entryFileNames: 'chunks/jose.js' })
  await jose.close()
  return resolve('dist/chunks/jose.js')
}
