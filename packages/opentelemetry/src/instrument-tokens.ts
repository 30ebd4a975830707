import { metrics, trace, type MeterProvider, type TracerProvider } from '@opentelemetry/api'
import type { TokenPool, TokenProvider } from '@tokenwell/core'
import { createIdentity } from './attributes.ts'
import { recordMetrics } from './record-metrics.ts'
import { traceRequests } from './trace-requests.ts'

export interface InstrumentTokensOptions {
  /** @default the global one, which must already be registered */
  readonly meterProvider?: MeterProvider | undefined
  /** @default the global one */
  readonly tracerProvider?: TracerProvider | undefined
  /** Identifies one of several providers or pools: the attribute `tokenwell.provider.name` of spans and metrics. */
  readonly name?: string | undefined
  /**
   * Maximum number of keys of a pool recorded as the attribute `tokenwell.pool.key`; the others are recorded as `other`.
   *
   * @default 0, which records no keys
   */
  readonly maxKeys?: number | undefined
}

const scope = '@tokenwell/opentelemetry'

/**
 * Records spans and metrics from the events of a token provider, or of all providers of a pool. Returning a cached token
 * costs nothing, and no attribute contains a secret, a token, a client ID or a URL.
 *
 * @example
 * const stop = instrumentTokens(tokens, { name: 'speech' })
 *
 * @returns a function that stops the recording
 * @throws {TypeError} for anything that emits no events
 */
export function instrumentTokens(
  tokens: TokenProvider | Pick<TokenPool<never>, 'subscribe'>,
  options: InstrumentTokensOptions = {},
): () => void {
  const { meterProvider = metrics, tracerProvider = trace, name, maxKeys = 0 } = options
  if (typeof (tokens as Partial<TokenProvider>).subscribe !== 'function') {
    throw new TypeError(
      'instrumentTokens takes a token provider or a pool. Pass the one that the clients use.',
    )
  }
  const identityOf = createIdentity(name, maxKeys)
  const stopMetrics = recordMetrics(tokens, meterProvider.getMeter(scope), identityOf)
  const stopSpans = traceRequests(tokens, tracerProvider.getTracer(scope), identityOf)
  return () => {
    stopMetrics()
    stopSpans()
  }
}
