// OpenTelemetry spans and metrics of the token provider. They are printed here; use your own exporters.
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import {
  TracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace'
import {
  clientCredentials,
  createTokenFetch,
  credentialsFrom,
} from '@tokenwell/core'
import { instrumentTokens } from '@tokenwell/opentelemetry'

// Your SDK has set these up already: by default, instrumentTokens uses the global ones.
const spans = new InMemorySpanExporter()
const tracerProvider = new TracerProvider({
  spanProcessors: [new SimpleSpanProcessor({ exporter: spans })],
})
const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
const meterProvider = new MeterProvider({
  readers: [new PeriodicExportingMetricReader({ exporter })],
})

const tokens = clientCredentials(credentialsFrom(process.env))
instrumentTokens(tokens, { name: 'orders', meterProvider, tracerProvider })

const apiFetch = createTokenFetch(tokens, { baseUrl: process.env.API_URL })
await apiFetch('/v1/orders')
await meterProvider.forceFlush()

for (const { name, attributes } of spans.getFinishedSpans()) {
  console.log('span', name, attributes['tokenwell.request.reason'])
}
for (const { scopeMetrics } of exporter.getMetrics()) {
  for (const { descriptor } of scopeMetrics.flatMap(({ metrics }) => metrics)) {
    console.log(`metric ${descriptor.name} in ${descriptor.unit || 'numbers'}`)
  }
}
await meterProvider.shutdown()
