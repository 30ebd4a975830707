import { PrometheusExporter } from '@opentelemetry/exporter-prometheus'
import { MeterProvider } from '@opentelemetry/sdk-metrics'
import { createMemoryTokenStore, createTokenProvider } from '@tokenwell/core'
import { freePort } from '@tokenwell/internal-testing/free-port'
import { createSoakTable } from '@tokenwell/internal-testing/soak-table'
import { instrumentTokens } from '@tokenwell/opentelemetry'
import { json, useTestServers } from '@tokenwell/testing'
import { readFileSync, writeFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { drawDashboard } from './draw-dashboard.ts'
import { prometheusInstalled, startPrometheus } from './prometheus.ts'

const servers = useTestServers()
const table = createSoakTable()
const fileOf = (name: string) =>
  fileURLToPath(new URL(`../../../docs/public/grafana/${name}`, import.meta.url))
const dashboard = JSON.parse(readFileSync(fileOf('tokenwell-dashboard.json'), 'utf8')) as {
  panels: {
    title: string
    fieldConfig: { defaults: { unit: string } }
    targets: { expr: string; legendFormat: string }[]
  }[]
}
const units: Record<string, string> = { reqps: 'per second', s: 's' }

// `DASHBOARD=file.svg` writes the picture.
it.skipIf(!prometheusInstalled)(
  'shows an outage of 60 s of the token endpoint, and counts every failed call',
  async () => {
    const port = await freePort()
    const exporter = new PrometheusExporter({ port, host: '127.0.0.1' })
    const meterProvider = new MeterProvider({ readers: [exporter] })
    await using prometheus = await startPrometheus(`127.0.0.1:${port}`, fileOf('tokenwell-alerts.yaml'))
    const store = createMemoryTokenStore()
    const providers = ['orders', 'billing', 'reports'].map((name) => {
      const tokens = createTokenProvider(servers.endpoint.source, { store })
      instrumentTokens(tokens, { meterProvider, name })
      return tokens
    })
    let isDown = false
    servers.endpoint.respond = async () => {
      if (isDown) return json({}, 503)
      await setTimeout(150)
      return json({ access_token: crypto.randomUUID(), expires_in: 10 })
    }

    const start = Date.now() / 1_000
    let alerts: string[] = []
    const row = await table.measure('an outage of 60 s, 3 providers', async () => {
      const calls: Promise<void>[] = []
      let [failures, worstMs] = [0, 0]
      const began = performance.now()
      const elapsed = () => performance.now() - began
      const call = async (index: number) => {
        const at = performance.now()
        await providers[index]!.getToken().catch(() => failures++)
        worstMs = Math.max(worstMs, performance.now() - at)
      }
      while (elapsed() < 100_000) {
        isDown = elapsed() > 20_000 && elapsed() < 80_000
        if (elapsed() > 85_000 && alerts.length === 0) alerts = await prometheus.alerts()
        for (const index of providers.keys()) calls.push(call(index))
        await setTimeout(100)
      }
      await Promise.all(calls)
      return { calls: calls.length, failures, worstMs, tokenRequests: servers.endpoint.requests.length }
    })
    await setTimeout(2_500)
    const end = Date.now() / 1_000

    const panels = await Promise.all(
      dashboard.panels.map(async ({ title, fieldConfig, targets }) => ({
        title,
        unit: units[fieldConfig.defaults.unit] ?? '',
        targets: await Promise.all(
          targets.map(async ({ expr, legendFormat }) => ({
            legend: legendFormat,
            series: await prometheus.queryRange(
              expr.replaceAll('$provider', '.*').replaceAll('$__rate_interval', '4s'),
              start,
              end,
            ),
          })),
        ),
      })),
    )
    const file = process.env['DASHBOARD']
    if (file) writeFileSync(file, drawDashboard(panels, start, end))

    const failed = await prometheus.queryRange('sum(tokenwell_call_failures_total)', end - 1, end)
    expect(Number(failed[0]!.values.at(-1)![1])).toBe(row.failures)
    expect(row.failures).toBeGreaterThan(500)
    expect(alerts).toContain('TokenCallsFailing')
    const drawn = (title: string) =>
      panels.find((panel) => panel.title === title)!.targets.flatMap(({ series }) => series)
    expect(drawn('Failed calls').map(({ metric }) => metric['tokenwell_wait_cause'])).toContain('cooldown')
    for (const title of ['Time that callers waited', 'Failed token requests', 'Remaining lifetime'])
      expect(drawn(title).length, title).toBeGreaterThan(0)
    await Promise.all([...providers.map((tokens) => tokens.close()), meterProvider.shutdown()])
  },
)
