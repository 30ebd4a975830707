import type { Attributes, Meter, ObservableResult } from '@opentelemetry/api'
import type { TokenEvent, TokenPool, TokenProvider } from '@tokenwell/core'
import { failureAttributes, type IdentityOf } from './attributes.ts'
import { knownStoreCause } from './known-codes.ts'

const durationBuckets = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30]
/** From seconds to a week. */
const lifetimeBuckets = [10, 30, 60, 300, 600, 1800, 3600, 7200, 21_600, 43_200, 86_400, 604_800]

export function recordMetrics(
  tokens: TokenProvider | Pick<TokenPool<never>, 'subscribe'>,
  meter: Meter,
  identityOf: IdentityOf,
): () => void {
  const instruments = createInstruments(meter)
  const stop = tokens.subscribe((event) => recordEvent(instruments, event, identityOf(event)))
  // The keys of a pool come and go; a gauge for each would keep them all.
  if (!('peekToken' in tokens)) return stop

  const observe = (result: ObservableResult): void => {
    const token = tokens.peekToken()
    // Without a new value, SDKs keep reporting the last one.
    result.observe(token ? (token.expiresAt.getTime() - Date.now()) / 1000 : 0, identityOf())
  }
  instruments.remaining.addCallback(observe)
  return () => {
    stop()
    instruments.remaining.removeCallback(observe)
  }
}

function recordEvent(
  instruments: ReturnType<typeof createInstruments>,
  event: TokenEvent,
  identity: Attributes,
): void {
  switch (event.type) {
    case 'token_received': {
      const { from, reason, durationMs, remainingMs } = event
      if (from === 'endpoint') {
        instruments.duration.record(durationMs / 1000, { ...identity, 'tokenwell.request.reason': reason })
      } else instruments.storeAvailable.record(1, identity)
      instruments.lifetime.record(remainingMs / 1000, { ...identity, 'tokenwell.token.origin': from })
      break
    }
    case 'token_failed': {
      const { reason, durationMs } = event
      const attributes = {
        ...identity,
        'tokenwell.request.reason': reason,
        ...failureAttributes(event),
      }
      instruments.duration.record(durationMs / 1000, attributes)
      break
    }
    case 'call_settled': {
      const { durationMs, waitedFor, kind } = event
      const failure = kind && { 'error.type': kind }
      if (waitedFor) {
        const attributes = { ...identity, 'tokenwell.wait.cause': waitedFor, ...failure }
        instruments.wait.record(durationMs / 1000, attributes)
      }
      // A call that fails without waiting fails during a cooldown, unless the caller has cancelled it.
      const cause = waitedFor ?? (kind === 'aborted' ? 'none' : 'cooldown')
      if (failure) instruments.callFailures.add(1, { ...identity, 'tokenwell.wait.cause': cause, ...failure })
      break
    }
    case 'token_rejected':
      instruments.rejections.add(1, { ...identity, 'tokenwell.token.refreshing': event.refreshing })
      break
    case 'token_withheld':
      // The origin is not an attribute: callers determine it, so its values are unbounded.
      instruments.withheld.add(1, identity)
      break
    case 'token_skipped':
      instruments.skipped.add(1, identity)
      break
    case 'lifetime_unknown':
      instruments.unknownLifetimes.add(1, { ...identity, 'tokenwell.lifetime.problem': event.problem })
      break
    case 'store_unavailable': {
      const { operation, cause } = event
      const attributes = {
        ...identity,
        'tokenwell.store.operation': operation,
        'error.type': knownStoreCause(cause),
      }
      instruments.storeFailures.add(1, attributes)
      instruments.storeAvailable.record(0, identity)
      break
    }
    case 'store_recovered':
      instruments.storeAvailable.record(1, identity)
      break
    case 'token_requested':
      // Counted when it completes.
      break
  }
}

function createInstruments(meter: Meter) {
  return {
    duration: meter.createHistogram('tokenwell.token.request.duration', {
      description: 'Duration of requests to the token endpoint',
      unit: 's',
      advice: { explicitBucketBoundaries: durationBuckets },
    }),
    wait: meter.createHistogram('tokenwell.call.wait.duration', {
      description: 'Time that callers waited for a token',
      unit: 's',
      advice: { explicitBucketBoundaries: durationBuckets },
    }),
    callFailures: meter.createCounter('tokenwell.call.failures', {
      description: 'Calls that got no token',
      unit: '{call}',
    }),
    lifetime: meter.createHistogram('tokenwell.token.lifetime', {
      description: 'Remaining lifetime of tokens when they were received',
      unit: 's',
      advice: { explicitBucketBoundaries: lifetimeBuckets },
    }),
    remaining: meter.createObservableGauge('tokenwell.token.remaining_lifetime', {
      description: 'Remaining lifetime of the cached token; 0 without one',
      unit: 's',
    }),
    rejections: meter.createCounter('tokenwell.token.rejections', {
      description: 'Tokens that an API rejected',
      unit: '{rejection}',
    }),
    withheld: meter.createCounter('tokenwell.token.withheld_requests', {
      description: 'Requests sent without a token because their origin is not allowed',
      unit: '{request}',
    }),
    skipped: meter.createCounter('tokenwell.token.skipped_requests', {
      description: 'Requests sent without a token because they had a header already',
      unit: '{request}',
    }),
    unknownLifetimes: meter.createCounter('tokenwell.token.unknown_lifetimes', {
      description: 'Tokens received without a valid lifetime',
      unit: '{token}',
    }),
    storeFailures: meter.createCounter('tokenwell.store.failures', {
      description: 'Failed operations of the shared store',
      unit: '{failure}',
    }),
    storeAvailable: meter.createGauge('tokenwell.store.available', {
      description: '1 if the shared store worked when it was last used, otherwise 0',
      unit: '{store}',
    }),
  }
}
