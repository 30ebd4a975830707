import { metrics, trace, type Attributes, type MeterProvider, type TracerProvider } from '@opentelemetry/api'
import type { TokenProvider } from '@tokenwell/core'
import { recordMetrics } from './record-metrics.ts'
import { traceRequests } from './trace-requests.ts'

export interface InstrumentTokensOptions {
  /** @default the global one, which must be registered before */
  readonly meterProvider?: MeterProvider | undefined
  /** @default the global one */
  readonly tracerProvider?: TracerProvider | undefined
  /** Identifies one of several providers: the attribute `tokenwell.provider.name` of spans and metrics. */
  readonly name?: string | undefined
}

const scope = '@tokenwell/opentelemetry'

/**
 * Records spans and metrics from the events of a token provider. Returning a cached token costs nothing, and no
 * attribute contains a secret, a token, a client ID or a URL.
 *
 * @example
 * const stop = instrumentTokens(tokens, { name: 'speech' })
 *
 * @returns a function that stops the recording
 */
export function instrumentTokens(tokens: TokenProvider, options: InstrumentTokensOptions = {}): () => void {
  const { meterProvider = metrics, tracerProvider = trace, name } = options
  const identity: Attributes = name === undefined ? {} : { 'tokenwell.provider.name': name }
  const stopMetrics = recordMetrics(tokens, meterProvider.getMeter(scope), identity)
  const stopSpans = traceRequests(tokens, tracerProvider.getTracer(scope), identity)
  return () => {
    stopMetrics()
    stopSpans()
  }
}
