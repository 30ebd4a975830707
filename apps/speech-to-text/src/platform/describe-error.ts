import { TokenError } from '@tokenwell/core'
import { SpeechApiError, UnreachableError } from '../speech/speech-api-response.ts'
import { ConfigurationError, type Connection } from './connection.ts'

/** Describes in one or two sentences why nothing can be transcribed; undefined for an unexpected error. */
export function describeError(error: unknown, connection?: Connection): string | undefined {
  if (error instanceof ConfigurationError || error instanceof UnreachableError) return error.message
  if (error instanceof SpeechApiError) {
    return `The speech API at ${connection?.speechUrl} returned an error (status ${error.status}): ${error.message}`
  }
  return error instanceof TokenError ? describeTokenError(error, connection) : undefined
}

function describeTokenError({ kind, status, message }: TokenError, connection?: Connection): string {
  const { authUrl, tokenEndpoint, issuer } = connection ?? {}
  const service = `The token service at ${authUrl ?? tokenEndpoint ?? issuer}`
  switch (kind) {
    case 'credentials':
      return `${service} rejected the client ID ${connection?.clientId}. Check the client ID and secret.`
    case 'unavailable':
      return status === undefined
        ? `${service} could not be reached.`
        : `${service} is unavailable (status ${status}).`
    case 'throttled':
      return `${service} rate-limited the request. Try again later.`
    case 'malformed':
      return `${service} returned an invalid response. Check this URL.`
    case 'configuration':
      return status === undefined
        ? message
        : `${service} rejected the token request (status ${status}). Check this URL.`
    case 'aborted':
      return message
  }
}
