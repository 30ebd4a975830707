import { metrics, trace, type Attributes, type MeterProvider, type TracerProvider } from '@opentelemetry/api'
import type { TokenProvider } from '@tokenwell/core'
import { recordMetrics } from './record-metrics.ts'
import { traceRequests } from './trace-requests.ts'

export interface InstrumentTokensOptions {
  /** @default the global one, which must be registered by now */
  readonly meterProvider?: MeterProvider | undefined
  /** @default the global one */
  readonly tracerProvider?: TracerProvider | undefined
  /** Tells several providers of one process apart: the attribute `tokenwell.provider.name` of spans and metrics. */
  readonly name?: string | undefined
}

const scope = '@tokenwell/opentelemetry'

/**
 * Makes spans and metrics out of what a token provider tells of itself. Nothing happens while a token at hand is
 * handed out, and no secret, token, client ID or address is in any of it.
 *
 * @example
 * const stop = instrumentTokens(tokens, { name: 'speech' })
 *
 * @returns what ends it
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
