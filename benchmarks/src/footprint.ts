import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { rolldown } from 'rolldown'
import type { Table } from './table.ts'

const core = createRequire(import.meta.url).resolve('@tokenwell/core')
const sources = join(core, '../../src/index.ts')

async function gzippedBytes(entry: string, external: string[] = []): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'tokenwell-footprint-'))
  try {
    const input = join(folder, 'entry.js')
    writeFileSync(input, `export { clientCredentials, createTokenProvider } from ${JSON.stringify(entry)}`)
    const bundle = await rolldown({ input, external, platform: 'neutral' })
    const { output } = await bundle.generate({ format: 'esm', minify: true })
    return gzipSync(output[0].code, { level: 9 }).length
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Milliseconds of a whole Node process, the median of several; the two in turn. */
function coldImport(runs: number): { bare: number; importing: number } {
  const time = (code: string): number => {
    const start = performance.now()
    spawnSync(process.execPath, ['--input-type=module', '-e', code])
    return performance.now() - start
  }
  const bare: number[] = []
  const importing: number[] = []
  for (let run = 0; run < runs; run++) {
    bare.push(time(''))
    importing.push(time(`import ${JSON.stringify(core)}`))
  }
  const median = (values: number[]): number =>
    values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
  return { bare: median(bare), importing: median(importing) }
}

export async function footprint(): Promise<Table> {
  const whole = await gzippedBytes(core)
  const own = await gzippedBytes(sources, ['zod/v4/core'])
  const { bare, importing } = coldImport(41)
  return {
    title: 'Footprint of @tokenwell/core',
    note: 'clientCredentials and createTokenProvider, minified and gzipped; cold import is the median of 41 processes, in turn with a bare one.',
    columns: ['what', 'figure'],
    rows: [
      ['bundle, with the little of zod inside', `${whole} bytes`],
      ['of that our own code', `${own} bytes`],
      ['cold import over bare Node', `${(importing - bare).toFixed(1)} ms (${bare.toFixed(1)} ms bare)`],
    ],
  }
}
