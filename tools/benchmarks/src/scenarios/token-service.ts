import { count, ratio, ranked } from '../method/figures.ts'
import { startServer, type RunningServer } from '../servers/start-server.ts'
import type { Result, Table } from '../result.ts'
import { loadInTurn, timesAsMany, timesTheCost, typical, warmUpSeconds, type Throughput } from './load.ts'
import { growthTable } from './token-service-growth.ts'
import { storagesTable } from './token-service-storages.ts'

const rounds = 7
const seconds = 1.2
// Runs differ by this much.
const ranking = { best: 'most', draw: 0.25 } as const

const servers = {
  tokenwell: '@tokenwell/token-service',
  'node-oauth2-server': '@node-oauth/oauth2-server on node:http',
  'oidc-provider': 'oidc-provider, opaque tokens',
  'oauth2-mock-server': 'oauth2-mock-server',
  bare: 'bare node:http handler',
} as const

type ServerId = keyof typeof servers
const ids = Object.keys(servers) as ServerId[]

export async function tokenService(): Promise<Result> {
  const running = new Map<ServerId, RunningServer>()
  for (const id of ids) running.set(id, await startServer(id))
  const found = await loadInTurn(running, rounds, seconds)
  for (const server of running.values()) server.stop()

  const entries = ids.map((id) => ({ id, name: servers[id], value: typical(found.get(id)!).perSecond }))
  const ours = found.get('tokenwell')!
  return {
    title: 'Token service',
    note: `Each server runs in one process with 32 connections; the load (autocannon) comes from another process. Figures are medians of ${rounds} rounds of ${seconds} s in turn, after ${warmUpSeconds} s of warm-up each; ratios are taken within a round. Every server stores its tokens in memory; only ours hashes tokens and secrets and sends the platform's longer response.`,
    tables: [memoryTable(entries, found, ours), await storagesTable(), await growthTable()],
    charts: [
      {
        name: 'token-service',
        title: 'Tokens per second, one process, 32 connections',
        bars: ranked(entries, ranking).map(({ name, value }) => ({
          label: name,
          value,
          text: `${count(value)} /s`,
        })),
      },
    ],
    comparisons: [
      {
        what: 'tokens per second',
        entries,
        ...ranking,
        because:
          'The bare handler only parses the form and compares the secret; ours adds routing, checks, three hashes and storing the token',
      },
    ],
    overview: [],
  }
}

function memoryTable(
  entries: readonly { id: ServerId; name: string; value: number }[],
  found: ReadonlyMap<ServerId, Throughput[]>,
  ours: readonly Throughput[],
): Table {
  return {
    title: 'Tokens per second',
    columns: [
      'server',
      'ours relative to it',
      'tokens/s',
      'CPU time of ours relative to it',
      'per token',
      'p99',
    ],
    rows: ranked(entries, ranking).map(({ id, name }) => {
      const own = found.get(id)!
      const { perSecond, cpuUs, p99Ms } = typical(own)
      return [
        name,
        ratio(timesAsMany(ours, own)),
        count(perSecond),
        ratio(timesTheCost(ours, own)),
        `${cpuUs.toFixed(0)} µs`,
        `${p99Ms} ms`,
      ]
    }),
    notes: [
      '@node-oauth/oauth2-server stores and compares secrets and tokens as plain text; its random numbers come from other threads of its process.',
      'oidc-provider keeps the last 1,000 tokens. oauth2-mock-server signs a JWT per token, stores none, and checks no secret.',
      'The bare handler parses the form, checks the credentials, and sends the same bytes each time.',
    ],
  }
}
