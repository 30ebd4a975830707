// Compiles `program.ts`, as CommonJS and as an ES module, under each compiler's module settings, with every check on.
import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const full = process.argv.includes('--full')
const settings = [
  { module: 'commonjs', moduleResolution: 'node10', compilers: [5.4, 5, 6] },
  { module: 'commonjs', moduleResolution: 'bundler', compilers: [6, 7] },
  { module: 'node16', compilers: [5.4, 5, 6, 7] },
  { module: 'node18', moduleResolution: 'node16', compilers: [5, 6, 7] },
  { module: 'nodenext', compilers: [5.4, 5, 6, 7] },
  { module: 'esnext', moduleResolution: 'bundler', compilers: [5.4, 5, 6, 7] },
]
const libraries = { 'without DOM': ['ES2022'], 'with DOM': ['ES2022', 'DOM', 'DOM.Iterable'] }

const folder = fileURLToPath(new URL('app/', import.meta.url))
rmSync(folder, { recursive: true, force: true })
mkdirSync(folder)
const program = readFileSync(new URL('program.ts', import.meta.url), 'utf8')
for (const ending of ['ts', 'mts', 'cts']) writeFileSync(`${folder}program.${ending}`, program)
writeFileSync(`${folder}with-ky.mts`, readFileSync(new URL('with-ky.ts', import.meta.url)))
// `program.ts` is CommonJS, regardless of its folder.
writeFileSync(`${folder}package.json`, '{ "type": "commonjs" }')

const runs = settings.flatMap(({ compilers, ...setting }) =>
  compilers.flatMap((compiler) =>
    Object.keys(libraries)
      // The fast compiler checks all combinations; the others check one set of libraries.
      .filter((library) => full || compiler === 7 || (compiler < 6 && library === 'without DOM'))
      .map((library) => ({ ...setting, compiler, library })),
  ),
)
let failed = 0
const next = runs.values()
await Promise.all([work(), work()])
console.log(`${runs.length - failed} of ${runs.length} settings compile`)
process.exitCode = failed ? 1 : 0

async function work() {
  for (const run of next) {
    const problems = await compile(run)
    if (problems.length === 0) continue
    failed++
    const { compiler, module, moduleResolution = module, library } = run
    console.error(
      [`TypeScript ${compiler}, ${module}, ${moduleResolution}, ${library}:`, ...problems.slice(0, 8)].join(
        '\n',
      ),
    )
  }
}

function compile({ compiler, module, moduleResolution = module, library }) {
  const name = `tsconfig.${compiler}-${module}-${moduleResolution}-${library.replace(' ', '-')}.json`
  const compilerOptions = {
    module,
    moduleResolution,
    target: 'es2022',
    lib: libraries[library],
    types: ['node'],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    esModuleInterop: true,
    experimentalDecorators: true,
    emitDecoratorMetadata: true,
    skipLibCheck: false,
    noEmit: true,
    ...(compiler === 6 && { ignoreDeprecations: '6.0' }),
  }
  const files = module.startsWith('node')
    ? ['program.cts', 'program.mts', 'with-ky.mts']
    : module === 'esnext'
      ? ['program.mts', 'with-ky.mts']
      : ['program.ts']
  writeFileSync(`${folder}${name}`, JSON.stringify({ compilerOptions, files }))
  const tsc = fileURLToPath(new URL(`node_modules/typescript-${compiler}/bin/tsc`, import.meta.url))
  return new Promise((resolve) => {
    execFile(process.execPath, [tsc, '-p', name, '--pretty', 'false'], { cwd: folder }, (error, stdout) => {
      // Errors in the declarations of other packages are ignored.
      const ours = stdout.split('\n').filter((line) => /error TS/.test(line) && isOurs(line))
      resolve(ours)
    })
  })
}

function isOurs(line) {
  return !line.includes('node_modules') || line.includes('node_modules/@tokenwell/')
}
