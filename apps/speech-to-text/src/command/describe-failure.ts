import { TokenError } from '@tokenwell/core'
import type { Connection } from '../clients/speech-client.ts'
import { SetupError } from '../setup-error.ts'
import { SpeechApiError } from '../speech-api-error.ts'
import { UnreachableError } from './unreachable-error.ts'

/** One sentence on why nothing can be transcribed, or undefined for an error that nobody foresaw. */
export function describeFailure(error: unknown, connection?: Connection): string | undefined {
  if (error instanceof SetupError || error instanceof UnreachableError) return error.message
  if (error instanceof SpeechApiError) {
    return `The speech API at ${connection?.speechUrl} answered with an error (status ${error.status}): ${error.message}`
  }
  return error instanceof TokenError ? describeTokenError(error, connection) : undefined
}

function describeTokenError({ kind, status, message }: TokenError, connection?: Connection): string {
  const service = `The token service at ${connection?.authUrl}`
  switch (kind) {
    case 'credentials':
      return `${service} refused the client ID ${connection?.clientId}: check it and its secret.`
    case 'unavailable':
      return status === undefined
        ? `${service} does not answer.`
        : `${service} is out of order (status ${status}).`
    case 'throttled':
      return `${service} asks for fewer requests: try again later.`
    case 'malformed':
      return `${service} gave an answer that holds no token: check its address.`
    case 'configuration':
      return status === undefined
        ? `${message}.`
        : `${service} refused the token request (status ${status}): check its address.`
    case 'aborted':
      return `${message}.`
  }
}
