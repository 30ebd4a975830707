import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgresServer } from '../../../../packages/internal-testing/src/postgres/private-postgres.ts'
import { count, ratio } from '../method/figures.ts'
import { startServer } from '../servers/start-server.ts'
import type { Table } from '../result.ts'
import { loadInTurn, timesAsMany, typical } from './load.ts'

/** The service with each of its storages, in turn. */
export async function storagesTable(): Promise<Table> {
  // With the settings of PostgreSQL itself: a token is returned once it is on disk.
  const postgres = await startPostgresServer({})
  const folder = mkdtempSync(join(tmpdir(), 'tokenwell-bench-'))
  const secretHashKeys = ['k'.repeat(32)]
  const storages = {
    memory: 'memory',
    SQLite: `sqlite:${join(folder, 'tokenwell.db')}`,
    PostgreSQL: postgres.url,
  }
  const names = Object.keys(storages) as (keyof typeof storages)[]
  const servers = await Promise.all(
    names.map((name) => startServer('tokenwell', { storage: storages[name], secretHashKeys })),
  )
  const found = await loadInTurn(new Map(names.map((name, index) => [name, servers[index]!])), 7, 1.2)
  for (const server of servers) server.stop()
  await postgres.stop()
  rmSync(folder, { recursive: true })

  return {
    title: 'With each storage',
    columns: ['storage', 'relative to memory', 'tokens/s', 'CPU time per token', 'p99'],
    rows: names.map((name) => {
      const rounds = found.get(name)!
      const { perSecond, cpuUs, p99Ms } = typical(rounds)
      const relative = ratio(timesAsMany(rounds, found.get('memory')!))
      return [name, relative, count(perSecond), `${cpuUs.toFixed(0)} µs`, `${p99Ms} ms`]
    }),
    notes: [
      'SQLite and PostgreSQL return a token once it is on disk; concurrent requests share a commit. CPU time is that of the service alone.',
    ],
  }
}
