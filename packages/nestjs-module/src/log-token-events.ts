import { Logger, type LoggerService } from '@nestjs/common'
import type { TokenEvent, TokenEventListener } from '@tokenwell/core'

/**
 * Creates a listener that writes the events of a token provider to Nest's logger: failures as errors or warnings,
 * everything else as debug messages. That requests to an origin carry no token is a warning once for each origin. No event
 * contains a secret or a token.
 *
 * @example
 * TokenModule.forRoot({ name: 'billing', onEvent: logTokenEvents(new Logger('Billing')), … })
 */
export function logTokenEvents(logger: LoggerService = new Logger('TokenModule')): TokenEventListener {
  const withheld = new Set<string>()
  return (event) => {
    const { type, ...details } = event
    const members = Object.entries(details).filter(([, value]) => value !== undefined)
    const text = [type, ...members.map(([name, value]) => `${name}=${String(value)}`)].join(' ')
    const isKnown = event.type === 'token_withheld' && withheld.has(event.origin)
    if (event.type === 'token_withheld' && withheld.size < maxOrigins) withheld.add(event.origin)
    logger[isKnown ? 'debug' : levelOf(event)]?.(text)
  }
}

/** How many origins are remembered. */
const maxOrigins = 1_000

function levelOf(event: TokenEvent): 'error' | 'warn' | 'debug' {
  switch (event.type) {
    case 'token_failed':
      return event.kind === 'credentials' || event.kind === 'configuration' ? 'error' : 'warn'
    case 'token_rejected':
    case 'token_withheld':
    case 'store_unavailable':
    case 'lifetime_unknown':
      return 'warn'
    default:
      return 'debug'
  }
}
