import { metrics, type MeterProvider } from '@opentelemetry/api'

/** The part of a `TokenVerifier` of `@tokenwell/resource-server` that is needed here. */
export interface ObservableVerifier {
  subscribe(listener: (event: ObservedVerification) => void): () => void
}

/** The parts of its events that are recorded. */
export type ObservedVerification =
  | { readonly type: 'request_accepted'; readonly cached: boolean; readonly anonymous: boolean }
  | { readonly type: 'request_rejected'; readonly code: string; readonly status: number }
  | {
      readonly type: 'token_checked'
      readonly method: string
      readonly result: string
      readonly durationMs: number
    }

export interface InstrumentVerifierOptions {
  /** @default the global one, which must already be registered */
  readonly meterProvider?: MeterProvider | undefined
  /** Identifies one of several verifiers: the attribute `tokenwell.verifier.name`. */
  readonly name?: string | undefined
}

/**
 * Records metrics from the events of a token verifier. No attribute contains a token or a client ID.
 *
 * @example
 * instrumentVerifier(verifier, { name: 'orders' })
 *
 * @returns a function that stops the recording
 */
export function instrumentVerifier(
  verifier: ObservableVerifier,
  { meterProvider = metrics, name }: InstrumentVerifierOptions = {},
): () => void {
  const identity = name === undefined ? {} : { 'tokenwell.verifier.name': name }
  const meter = meterProvider.getMeter('@tokenwell/opentelemetry')
  const requests = meter.createCounter('tokenwell.verification.requests', {
    description: 'Requests checked for a valid access token, by result',
    unit: '{request}',
  })
  const checks = meter.createHistogram('tokenwell.verification.check.duration', {
    description: 'Time to introspect a token or to verify its signature',
    unit: 's',
    advice: {
      explicitBucketBoundaries: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    },
  })
  return verifier.subscribe((event) => {
    switch (event.type) {
      case 'request_accepted':
        requests.add(1, {
          ...identity,
          'tokenwell.verification.result': event.anonymous ? 'anonymous' : 'accepted',
          'tokenwell.cached': event.cached,
        })
        break
      case 'request_rejected':
        requests.add(1, {
          ...identity,
          'tokenwell.verification.result': event.code,
          'http.response.status_code': event.status,
        })
        break
      case 'token_checked':
        checks.record(event.durationMs / 1000, {
          ...identity,
          'tokenwell.check.method': event.method,
          'tokenwell.check.result': event.result,
        })
        break
    }
  })
}
