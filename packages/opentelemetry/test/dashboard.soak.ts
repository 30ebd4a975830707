import { readFileSync, writeFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus'
import { MeterProvider } from '@opentelemetry/sdk-metrics'
import { init, type EChartsOption } from 'echarts'
import { expect, it } from 'vitest'
import { createMemoryTokenStore, createTokenProvider } from '@tokenwell/core'
import { freePort } from '@tokenwell/internal-testing/free-port'
import { createSoakTable } from '@tokenwell/internal-testing/soak-table'
import { instrumentTokens } from '@tokenwell/opentelemetry'
import { json } from '@tokenwell/internal-testing'
import { useTestServers } from '@tokenwell/internal-testing/vitest'
import { type Series, prometheusInstalled, startPrometheus } from './prometheus.ts'

/** A panel with the series of each of its queries. */
interface PanelData {
  readonly title: string
  readonly unit: string
  readonly targets: readonly { readonly legend: string; readonly series: readonly Series[] }[]
}

const [width, panelHeight] = [1_600, 300]

/** Draws panels in two columns with the same time axis, as an SVG document. */
function drawDashboard(panels: readonly PanelData[], startSeconds: number, endSeconds: number): string {
  const height = Math.ceil(panels.length / 2) * panelHeight
  const chart = init(null, undefined, { renderer: 'svg', ssr: true, width, height })
  const place = (index: number) => ({
    left: (index % 2) * (width / 2),
    top: Math.floor(index / 2) * panelHeight,
  })
  const options: EChartsOption = {
    animation: false,
    backgroundColor: '#fff',
    title: panels.map(({ title, unit }, index) => ({
      text: unit ? `${title} (${unit})` : title,
      textStyle: { fontSize: 14 },
      left: place(index).left + 20,
      top: place(index).top + 6,
    })),
    legend: panels.map(({ targets }, index) => ({
      data: targets.flatMap(({ legend, series }) =>
        series.map(({ metric }) => nameOf(index, legend, metric)),
      ),
      formatter: (name: string) => name.replace(/^\d+ /, ''),
      left: place(index).left + 20,
      top: place(index).top + 28,
      width: width / 2 - 40,
      itemWidth: 14,
      itemHeight: 8,
      itemGap: 24,
      textStyle: { fontSize: 11 },
    })),
    grid: panels.map((_, index) => ({
      left: place(index).left + 60,
      top: place(index).top + 78,
      width: width / 2 - 90,
      height: panelHeight - 110,
    })),
    xAxis: panels.map((_, gridIndex) => ({
      type: 'time',
      gridIndex,
      min: startSeconds * 1_000,
      max: endSeconds * 1_000,
    })),
    yAxis: panels.map((_, gridIndex) => ({ type: 'value', gridIndex })),
    series: panels.flatMap(({ targets }, index) =>
      targets.flatMap(({ legend, series }) =>
        series.map(({ metric, values }) => ({
          type: 'line' as const,
          name: nameOf(index, legend, metric),
          xAxisIndex: index,
          yAxisIndex: index,
          showSymbol: false,
          data: values.map(([seconds, value]) => [seconds * 1_000, Number(value)]),
        })),
      ),
    ),
  }
  chart.setOption(options)
  const svg = chart.renderToSVGString()
  chart.dispose()
  return svg
}

/** Legends of several panels may be the same: the panel's number comes first. */
function nameOf(panel: number, legend: string, metric: Series['metric']): string {
  return `${panel} ${legend.replace(/\{\{(\w+)\}\}/g, (_, label: string) => metric[label] ?? '')}`
}

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
