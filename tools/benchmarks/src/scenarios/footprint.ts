import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { bundledBytes, installed } from '../method/installed.ts'
import { bytes, count, milliseconds, ratio, ranked } from '../method/figures.ts'
import { minimumOf } from '../method/run-process.ts'
import { allIds, loadPeer } from '../peers/peers.ts'
import type { Result } from '../result.ts'

const rounds = 11
// Under node_modules, so that imports resolve and other tools ignore it.
const folder = fileURLToPath(new URL('../../node_modules/.cache/footprint/', import.meta.url))

interface Entry {
  readonly name: string
  readonly file: string
  readonly gzip: number
  readonly packages: number
  readonly size: number
}

export async function footprint(): Promise<Result> {
  mkdirSync(folder, { recursive: true })
  const entries: Entry[] = []
  for (const id of allIds) {
    const { name, packages, beside = [], imports } = await loadPeer(id)
    if (packages.length === 0) continue
    const bundled = entryFile(id, imports)
    const there = entryFile(`beside-${id}`, beside.map((each) => `import '${each}'\n`).join(''))
    const file = entryFile(`time-${id}`, `import '${there}'\n${timed(bundled)}`)
    const { packages: added, bytes: size } = installed(packages, beside)
    entries.push({ name, file, gzip: await bundledBytes(bundled, beside), packages: added, size })
  }

  const times = minimumOf(
    entries.map(({ file }) => file),
    rounds,
  )
  const rows = entries.map((entry) => ({ ...entry, ms: times.get(entry.file)! }))
  const ours = rows[0]!
  const column = (title: string, cell: (row: (typeof rows)[0]) => string): Result['overview'][0] => ({
    title,
    cells: Object.fromEntries(rows.map((row) => [row.name, cell(row)])),
    absent: 'not a package',
  })

  return {
    title: 'Footprint',
    note: `What a package adds to an application: a bundle of what an application imports from it (minified, gzipped, without the HTTP or Redis client it works with), what it installs, and the time a new Node process takes to import it when the HTTP or Redis client is already loaded: the minimum of ${rounds} processes each, in turn.`,
    tables: [
      {
        title: 'Footprint of a package',
        columns: [
          'peer',
          'bundle relative to ours',
          'bundle, gzipped',
          'packages',
          'on disk',
          'import relative to ours',
          'cold import',
        ],
        rows: ranked(rows.map((row) => ({ ...row, value: row.gzip }))).map((row) => [
          row.name,
          ratio(row.gzip / ours.gzip),
          bytes(row.gzip),
          count(row.packages),
          bytes(row.size),
          ratio(row.ms / ours.ms),
          milliseconds(row.ms),
        ]),
        notes: [
          'Adapters and the Redis store include @tokenwell/core. The size on disk of our packages includes sources and source maps.',
        ],
      },
    ],
    charts: [
      chart('bundle', 'Bundle, minified and gzipped', rows, (row) => row.gzip, bytes),
      chart('import', 'Cold import', rows, (row) => row.ms, milliseconds),
    ],
    comparisons: [
      {
        what: 'the size of a bundle',
        entries: rows.map(({ name, gzip: value }) => ({ name, value })).filter(atOne),
        because: 'They do part of the work: requesting, caching or attaching tokens',
      },
      {
        what: 'the time to import a package',
        entries: rows.map(({ name, ms: value }) => ({ name, value })).filter(atOne),
        because: 'They do part of the work, and have less to load',
      },
    ],
    overview: [
      column('bundle', (row) => ratio(row.gzip / ours.gzip)),
      column('packages', (row) => count(row.packages)),
      column('import', (row) => ratio(row.ms / ours.ms)),
    ],
  }
}

/** Core represents ours: other packages add to it. */
function atOne({ name }: { name: string }): boolean {
  return name === '@tokenwell/core' || !name.startsWith('@tokenwell/')
}

function chart<Row extends { name: string }>(
  name: string,
  title: string,
  rows: readonly Row[],
  value: (row: Row) => number,
  text: (value: number) => string,
): Result['charts'][0] {
  const bars = ranked(rows.map((row) => ({ name: row.name, value: value(row) })))
  return {
    name,
    title,
    bars: bars.map((bar) => ({ label: bar.name, value: bar.value, text: text(bar.value) })),
  }
}

function timed(file: string): string {
  return `const start = performance.now()
await import('${file}')
process.stdout.write(String(performance.now() - start), () => process.exit())`
}

function entryFile(name: string, code: string): string {
  const file = `${folder}${name}.mjs`
  writeFileSync(file, code)
  return file
}
