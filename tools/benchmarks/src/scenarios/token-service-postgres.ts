import { count, ratio } from '../method/figures.ts'
import { startPostgres } from '../servers/start-postgres.ts'
import { startServer } from '../servers/start-server.ts'
import type { Table } from '../result.ts'
import { loadInTurn, timesAsMany, typical, type Throughput } from './load.ts'

const applications = 100_000
const tokens = 1_000_000

/** On a real PostgreSQL with default settings, before and after it is filled. */
export async function postgresTable(): Promise<Table> {
  const postgres = await startPostgres()
  if (!postgres)
    throw new Error('The token service benchmark requires PostgreSQL: install the Debian package postgresql')
  const server = await startServer('tokenwell', { storage: postgres.url, secretHashKeys: ['k'.repeat(32)] })
  const run = async (): Promise<Throughput[]> =>
    (await loadInTurn(new Map([['PostgreSQL', server]]), 3, 2)).get('PostgreSQL')!
  const empty = await run()
  postgres.run(filling)
  // Now, instead of automatically during the measurement.
  postgres.run('vacuum analyze')
  postgres.run('checkpoint')
  const full = await run()
  server.stop()
  postgres.stop()

  const row = (apps: number, stored: string, rounds: Throughput[]): string[] => {
    const { perSecond, cpuUs, p99Ms } = typical(rounds)
    const cells = [count(apps), stored, ratio(timesAsMany(rounds, empty)), count(perSecond)]
    return [...cells, `${cpuUs.toFixed(0)} µs`, `${p99Ms} ms`]
  }
  return {
    title: 'With PostgreSQL',
    columns: [
      'applications',
      'tokens stored before',
      'relative to the first row',
      'tokens/s',
      'CPU time per token',
      'p99',
    ],
    rows: [row(1, 'none', empty), row(applications, count(tokens), full)],
    notes: [
      `PostgreSQL ${postgres.version} on the same two processors, with its defaults: \`fsync\` and synchronous commits are on. A token is returned once it is durable; concurrent requests share a commit.`,
      'CPU time is that of the service alone.',
    ],
  }
}

const filling = `
insert into applications
  select copy.* from applications as a, generate_series(1, ${applications}) as n,
    jsonb_populate_record(a, jsonb_build_object('id', gen_random_uuid(), 'client_id', 'client-' || n)) as copy;
insert into secrets
  select copy.* from secrets as s, applications as a,
    jsonb_populate_record(s, jsonb_build_object('id', gen_random_uuid(), 'owner_id', a.id)) as copy
  where a.client_id like 'client-%';
insert into tokens
  select copy.* from tokens as t, generate_series(1, ${tokens}) as n,
    jsonb_populate_record(t, jsonb_build_object('hash', 'stored-' || n, 'expires_at_ms', 4102444800000)) as copy
  where t.hash = (select min(hash) from tokens);`
