// The load, in a separate process: keeps 32 connections busy for a while and reports.
import autocannon from 'autocannon'
import { givenArgument, report } from '../method/run-process.ts'

export interface LoadSettings {
  readonly url: string
  readonly bodies: readonly string[]
  readonly seconds: number
}

export interface LoadResult {
  readonly tokens: number
  readonly failures: number
  readonly seconds: number
  readonly p99Ms: number
}

const { url, bodies, seconds } = givenArgument() as LoadSettings
const result = await autocannon({
  url,
  connections: 32,
  duration: seconds,
  method: 'POST',
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  requests: bodies.map((body) => ({ body })),
})
report({
  tokens: result['2xx'],
  failures: result.errors + result.non2xx,
  seconds: result.duration,
  p99Ms: result.latency.p99,
})
