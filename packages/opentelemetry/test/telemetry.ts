import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { afterEach, beforeEach } from 'vitest'
import { startOtlpReceiver, type OtlpReceiver } from './otlp-receiver.ts'

/** The OpenTelemetry SDK with exporters to a test receiver. */
export interface Telemetry {
  receiver: OtlpReceiver
  meterProvider: MeterProvider
  tracerProvider: TracerProvider
  /** Exports what has been recorded. */
  flush(): Promise<void>
}

export function useTelemetry(): Telemetry {
  const telemetry = {} as Telemetry
  beforeEach(async () => {
    const receiver = await startOtlpReceiver()
    const traces = new OTLPTraceExporter({ url: `${receiver.origin}/v1/traces` })
    const metrics = new OTLPMetricExporter({ url: `${receiver.origin}/v1/metrics` })
    const tracerProvider = new TracerProvider({
      spanProcessors: [new BatchSpanProcessor({ exporter: traces })],
    })
    const reader = new PeriodicExportingMetricReader({ exporter: metrics })
    const meterProvider = new MeterProvider({ readers: [reader] })
    const flush = async () => {
      await Promise.all([tracerProvider.forceFlush(), meterProvider.forceFlush()])
    }
    Object.assign(telemetry, { receiver, meterProvider, tracerProvider, flush })
  })
  afterEach(async () => {
    await Promise.all([telemetry.tracerProvider.shutdown(), telemetry.meterProvider.shutdown()])
    await telemetry.receiver.close()
  })
  return telemetry
}
