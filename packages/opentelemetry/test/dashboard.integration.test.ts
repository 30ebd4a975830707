import { PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus'
import { MeterProvider } from '@opentelemetry/sdk-metrics'
import { createMemoryTokenStore, createTokenFetch, createTokenProvider } from '@tokenwell/core'
import { instrumentTokens } from '@tokenwell/opentelemetry'
import { json } from '@tokenwell/internal-testing'
import { useTestServers } from '@tokenwell/internal-testing/vitest'
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const servers = useTestServers()
const read = (file: string) =>
  readFileSync(new URL(`../../../docs/public/grafana/${file}`, import.meta.url), 'utf8')

/** Metrics with their labels, as Prometheus reads them from the exporter of the SDK. */
async function exported(): Promise<Map<string, Set<string>>> {
  const exporter = new PrometheusExporter({ preventServerStart: true })
  const meterProvider = new MeterProvider({ readers: [exporter] })
  const store = createMemoryTokenStore()
  const broken = () => Promise.reject(Object.assign(new Error('No'), { code: 'ECONNREFUSED' }))
  const tokens = createTokenProvider(servers.endpoint.source, {
    store: { ...store, read: broken },
    maxAttempts: 1,
  })
  const stop = instrumentTokens(tokens, { meterProvider, name: 'speech' })
  const apiFetch = createTokenFetch(tokens, { allowedOrigins: [servers.api.origin] })
  servers.api.rejects = (token) => token === servers.endpoint.issued[0]
  await apiFetch(servers.api.origin)
  await apiFetch(servers.other.origin)
  servers.endpoint.respond = () => json({}, 503)
  await tokens.getToken({ forceRefresh: true }).catch(() => {})
  const { resourceMetrics } = await exporter.collect()
  const text = new PrometheusSerializer().serialize(resourceMetrics)
  stop()
  await Promise.all([tokens.close(), meterProvider.shutdown()])

  const metrics = new Map<string, Set<string>>()
  for (const [, name = '', labels = ''] of text.matchAll(/^(\w+)\{(.*)\} /gm)) {
    const known = metrics.get(name) ?? new Set()
    for (const [, label = ''] of labels.matchAll(/(\w+)="/g)) known.add(label)
    metrics.set(name, known)
  }
  return metrics
}

interface Dashboard {
  readonly panels: readonly {
    readonly title: string
    readonly targets: readonly { readonly expr: string }[]
  }[]
}
const dashboard = JSON.parse(read('tokenwell-dashboard.json')) as Dashboard
const expressions = [
  ...dashboard.panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const)),
  // The service's own alerts are checked with the service.
  ...[
    ...read('tokenwell-alerts.yaml')
      .split('- name: tokenwell-service')[0]!
      .matchAll(/alert: (\w+)\n\s+expr: (.*)/g),
  ].map(([, name = '', expr = '']) => [name, expr] as const),
]

it('has eight panels and three alerts', () => {
  expect(dashboard.panels).toHaveLength(8)
  expect(expressions.filter(([title]) => /^Token[A-Z]\w+$/.test(title))).toHaveLength(3)
})

it.each(expressions)('uses metrics and labels that are exported: %s, %s', async (_title, expr) => {
  const metrics = await exported()
  // The unit is not part of the name here, but in what the collector exports.
  const patterns = [...expr.matchAll(/__name__=~"(.*?)"|\b(tokenwell_\w+)(?=[{[])/g)].map(
    ([, pattern, name]) => new RegExp(`^${pattern ?? name}$`),
  )
  expect(patterns.length).toBeGreaterThan(0)
  // Labels of Prometheus itself.
  const known = new Set(['__name__', 'le', 'job'])
  for (const pattern of patterns) {
    const names = [...metrics.keys()].filter((name) => pattern.test(name))
    expect(names, String(pattern)).toHaveLength(1)
    for (const label of metrics.get(names[0]!)!) known.add(label)
  }
  const grouped = [...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, labels]) => labels!.split(', '))
  const selected = [...expr.matchAll(/(\w+)(?:=~|!=|=)"/g)].map(([, label]) => label!)
  for (const label of [...grouped, ...selected]) expect([...known]).toContain(label)
})
