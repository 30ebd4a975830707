import { readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { formatTable, type Table } from './table.ts'

// Each loads its peers only when it runs.
const benchmarks: Record<string, () => Promise<Table>> = {
  'warm-path': async () => (await import('./warm-path.ts')).warmPath(),
  'request-overhead': async () => (await import('./request-overhead.ts')).requestOverhead(),
  tenants: async () => (await import('./tenants.ts')).tenants(),
  footprint: async () => (await import('./footprint.ts')).footprint(),
}

const [only] = process.argv.slice(2)
if (only !== undefined && !Object.hasOwn(benchmarks, only)) {
  process.stderr.write(`There is no benchmark ${only}; there are ${Object.keys(benchmarks).join(', ')}\n`)
  process.exit(2)
}

const tables: string[] = []
for (const [name, run] of Object.entries(benchmarks)) {
  if (only !== undefined && name !== only) continue
  process.stderr.write(`${name} …\n`)
  const table = formatTable(await run())
  process.stdout.write(`${table}\n`)
  tables.push(table)
}

if (only === undefined) {
  const { dependencies } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    dependencies: Record<string, string>
  }
  const versions = Object.keys(dependencies)
    .filter((name) => !name.startsWith('@tokenwell/'))
    .map((name) => `${name} ${installedVersion(name)}`)
  const head = [
    '# Results',
    '',
    `Node ${process.versions.node}, ${cpus().length} × ${cpus()[0]?.model ?? 'unknown processor'}, ${new Date().toISOString().slice(0, 10)}.`,
    `Peers: ${versions.join(', ')}. Ratios within one run carry over to other machines; times do not.`,
    '',
  ]
  writeFileSync(new URL('../RESULTS.md', import.meta.url), [...head, ...tables].join('\n'))
}

function installedVersion(name: string): string {
  const manifest = new URL(`../node_modules/${name}/package.json`, import.meta.url)
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version
}
