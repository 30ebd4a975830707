import { ProtocolError } from '../http/protocol-error.ts'
import { parameter, requiredParameter, type ParsedParameters } from '../http/request-parameters.ts'

export interface PresentedCredentials {
  readonly clientId: string
  readonly clientSecret: string
}

/** Reads `client_secret_post` or `client_secret_basic` (RFC 6749 section 2.3.1), never both. */
export function presentedCredentials(
  authorization: string | undefined,
  form: ParsedParameters,
): PresentedCredentials {
  if (authorization === undefined || !/^basic /i.test(authorization)) {
    return {
      clientId: requiredParameter(form, 'client_id'),
      clientSecret: requiredParameter(form, 'client_secret'),
    }
  }
  const credentials = parseBasic(authorization.slice('basic '.length).trim())
  const clientId = parameter(form, 'client_id')
  if (
    parameter(form, 'client_secret') !== undefined ||
    (clientId ?? credentials.clientId) !== credentials.clientId
  ) {
    throw new ProtocolError('two_authentication_methods')
  }
  return credentials
}

function parseBasic(encoded: string): PresentedCredentials {
  if (!/^[\w+/-]+={0,2}$/.test(encoded)) throw new ProtocolError('malformed_authorization')
  const text = Buffer.from(encoded, 'base64').toString()
  const colon = text.indexOf(':')
  if (colon < 1) throw new ProtocolError('malformed_authorization')
  return { clientId: formDecode(text.slice(0, colon)), clientSecret: formDecode(text.slice(colon + 1)) }
}

function formDecode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw new ProtocolError('malformed_authorization')
  }
}
