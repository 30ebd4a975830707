// Fails if a package exceeds its budget.
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { bundledBytes, dependencyCount } from '../method/installed.ts'
import { minimumOf } from '../method/run-process.ts'
import { budgets } from './budgets.ts'

const packages = fileURLToPath(new URL('../../../../packages/', import.meta.url))
const cache = fileURLToPath(new URL('../../node_modules/.cache/size/', import.meta.url))
const rounds = 15
// CPU time: wall-clock time includes other processes on a busy machine.
const printUsage =
  'const used = process.cpuUsage(); process.stdout.write(String(used.user + used.system), () => process.exit())'

interface Manifest {
  readonly name: string
  readonly private?: boolean
  readonly exports: Record<string, string | { readonly default: string }>
  readonly dependencies?: Record<string, string>
  readonly peerDependencies?: Record<string, string>
}

mkdirSync(cache, { recursive: true })
const unlisted = globSync('*/package.json', { cwd: packages })
  .filter((file) => !(JSON.parse(readFileSync(join(packages, file), 'utf8')) as Manifest).private)
  .map((file) => dirname(file))
  .filter((folder) => !Object.hasOwn(budgets, folder))
if (unlisted.length > 0) {
  process.stderr.write(`Add a budget to tools/benchmarks/src/size/budgets.ts: ${unlisted.join(', ')}\n`)
  process.exit(1)
}

const bare = program('bare', '')
const importing = new Map<string, string>()
const costs: { name: string; what: string; cost: number; budget: number; unit: string }[] = []

for (const [folder, { bytes, programs = {}, dependencies, start }] of Object.entries(budgets)) {
  const root = join(packages, folder)
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest
  const { name, exports } = manifest
  const entries = Object.values(exports).flatMap((entry) =>
    typeof entry === 'string' ? [] : [pathToFileURL(join(root, entry.default)).href],
  )
  const add = (what: string, cost: number, budget: number, unit: string): void => {
    costs.push({ name, what, cost, budget, unit })
  }
  if (bytes !== undefined) {
    const all = entries.map((entry) => `export * from '${fileURLToPath(entry)}'`).join('\n')
    add(
      'bundle',
      await bundledBytes(program(`all-of-${folder}`, all), needed(manifest)),
      bytes,
      'bytes gzipped',
    )
  }
  for (const [title, { imports, bytes: budget }] of Object.entries(programs)) {
    const file = program(
      `all-of-${folder}-${title.replace(' ', '-')}`,
      `export { ${imports} } from '${fileURLToPath(entries[0]!)}'`,
    )
    add(title, await bundledBytes(file, []), budget, 'bytes gzipped')
  }
  add('dependencies', dependencyCount(root), dependencies, 'packages')
  if (start !== undefined) importing.set(folder, program(`start-${folder}`, `import '${entries[0]}'`))
}

const times = minimumOf([bare, ...importing.values()], rounds)
for (const [folder, file] of importing) {
  const cost = Math.round((times.get(file)! / times.get(bare)!) * 100) / 100
  costs.push({
    name: `@tokenwell/${folder}`,
    what: 'start',
    cost,
    budget: budgets[folder]!.start!,
    unit: '× bare Node',
  })
}

const over = costs.filter(({ cost, budget }) => cost > budget)
for (const { name, what, cost, budget, unit } of costs) {
  process.stdout.write(`${cost > budget ? '✗' : '✓'} ${name}, ${what}: ${cost} of ${budget} ${unit}\n`)
}
if (over.length > 0) {
  process.stderr.write(
    'Over budget. Make it smaller, or, if users get something for it, raise the budget in tools/benchmarks/src/size/budgets.ts.\n',
  )
  process.exit(1)
}

/** Declared dependencies are not bundled; everything else that it imports is part of it. */
function needed({ dependencies, peerDependencies }: Manifest): RegExp[] {
  return Object.keys({ ...dependencies, ...peerDependencies }).map((name) => new RegExp(`^${name}(/|$)`))
}

function program(name: string, code: string): string {
  const file = `${cache}${name}.mjs`
  writeFileSync(file, name.startsWith('all-of-') ? code : `${code}\n${printUsage}`)
  return file
}
