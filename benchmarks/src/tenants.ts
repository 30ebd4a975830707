import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Table } from './table.ts'

/** Each size in a process of its own, so that none sees another's garbage. */
export function tenants(): Table {
  const child = fileURLToPath(new URL('tenants-child.ts', import.meta.url))
  const rows = [1, 1_000, 1_000_000].map((entries) => {
    const { stdout } = spawnSync(process.execPath, [
      '--expose-gc',
      '--max-old-space-size=8192',
      child,
      String(entries),
    ])
    const { bytes, createNs, warmNs } = JSON.parse(String(stdout)) as Record<string, number>
    return [
      entries.toLocaleString('en'),
      `${(bytes! / 2 ** 20).toFixed(1)} MiB`,
      `${(bytes! / entries).toFixed(0)} bytes`,
      `${createNs!.toFixed(0)} ns`,
      `${warmNs!.toFixed(0)} ns`,
    ]
  })
  return {
    title: 'Tenants',
    note: 'A pool with one provider for each tenant, each with credentials of its own, none asked for yet; `warm` is pool.for(key).getToken() of a few that were.',
    columns: ['providers', 'memory', 'each', 'to make one', 'warm'],
    rows,
  }
}
