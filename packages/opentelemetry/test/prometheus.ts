import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@tokenwell/internal-testing/free-port'

export const prometheusInstalled = spawnSync('prometheus', ['--version']).status === 0

export interface Series {
  readonly metric: Readonly<Record<string, string>>
  /** Seconds since 1970, and the value. */
  readonly values: readonly (readonly [number, string])[]
}

/** A Prometheus that reads an exporter every second. */
export interface Prometheus extends AsyncDisposable {
  queryRange(query: string, start: number, end: number): Promise<Series[]>
  /** The names of the alerts that fire or are pending. */
  alerts(): Promise<string[]>
}

/** @param rules the path of a file of alerting rules */
export async function startPrometheus(target: string, rules: string): Promise<Prometheus> {
  const port = await freePort()
  const folder = await mkdtemp(join(tmpdir(), 'prometheus-'))
  const config = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: [rules],
    scrape_configs: [{ job_name: 'application', static_configs: [{ targets: [target] }] }],
  }
  // JSON is YAML.
  await writeFile(join(folder, 'prometheus.yml'), JSON.stringify(config))
  const child = spawn(
    'prometheus',
    [
      `--config.file=${folder}/prometheus.yml`,
      `--storage.tsdb.path=${folder}/data`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: 'ignore' },
  )
  const origin = `http://127.0.0.1:${port}`
  const isReady = () =>
    fetch(`${origin}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    )
  while (!(await isReady())) await new Promise((resolve) => setTimeout(resolve, 100))
  async function get<Data>(path: string): Promise<Data> {
    const body = (await (await fetch(origin + path)).json()) as { data: Data; error?: string }
    if (body.error !== undefined) throw new Error(body.error)
    return body.data
  }
  return {
    async queryRange(query, start, end) {
      const parameters = new URLSearchParams({ query, start: `${start}`, end: `${end}`, step: '1' })
      const { result } = await get<{ result: Series[] }>(`/api/v1/query_range?${parameters}`)
      return result
    },
    async alerts() {
      const { alerts } = await get<{ alerts: { labels: { alertname: string } }[] }>('/api/v1/alerts')
      return alerts.map(({ labels }) => labels.alertname)
    },
    async [Symbol.asyncDispose]() {
      child.kill()
      await once(child, 'exit')
      await rm(folder, { recursive: true, force: true })
    },
  }
}
