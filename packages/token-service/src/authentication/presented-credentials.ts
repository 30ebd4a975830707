import { clientForm, optionalClientForm } from '../protocol/oauth-parameters.ts'
import { parseParameters, type RawParameters } from '../protocol/parameters.ts'
import { ProtocolError } from '../protocol/protocol-error.ts'

export interface PresentedCredentials {
  readonly clientId: string
  readonly clientSecret: string
}

/** Reads `client_secret_post` or `client_secret_basic` (RFC 6749 section 2.3.1), never both. */
export function presentedCredentials(
  authorization: string | undefined,
  form: RawParameters,
): PresentedCredentials {
  if (authorization === undefined || !/^basic /i.test(authorization)) {
    const { client_id, client_secret } = parseParameters(clientForm, form)
    return { clientId: client_id, clientSecret: client_secret }
  }
  const credentials = parseBasic(authorization.slice('basic '.length).trim())
  const { client_id = credentials.client_id, client_secret } = parseParameters(optionalClientForm, form)
  if (client_secret !== undefined || client_id !== credentials.client_id) {
    throw new ProtocolError('two_authentication_methods')
  }
  return { clientId: credentials.client_id, clientSecret: credentials.client_secret }
}

function parseBasic(encoded: string) {
  const text = /^[\w+/-]+={0,2}$/.test(encoded) ? Buffer.from(encoded, 'base64').toString() : ''
  const colon = text.indexOf(':')
  const credentials = clientForm.safeParse({
    client_id: formDecode(text.slice(0, Math.max(0, colon))),
    client_secret: formDecode(text.slice(colon + 1)),
  })
  if (!credentials.success) throw new ProtocolError('malformed_authorization')
  return credentials.data
}

function formDecode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}
