import { Logger, type LoggerService } from '@nestjs/common'
import type { TokenEvent, TokenEventListener } from '@tokenwell/core'

/**
 * Creates a listener that writes the events of a token provider to Nest's logger: failures as errors or warnings,
 * everything else as debug messages. No event contains a secret or a token.
 *
 * @example
 * TokenModule.forRoot({ name: 'billing', onEvent: logTokenEvents(new Logger('Billing')), … })
 */
export function logTokenEvents(logger: LoggerService = new Logger('TokenModule')): TokenEventListener {
  return (event) => {
    const { type, ...details } = event
    const members = Object.entries(details).filter(([, value]) => value !== undefined)
    const text = [type, ...members.map(([name, value]) => `${name}=${String(value)}`)].join(' ')
    logger[levelOf(event)]?.(text)
  }
}

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
