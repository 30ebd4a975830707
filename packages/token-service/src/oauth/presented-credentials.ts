import {
  assertionForm,
  clientForm,
  optionalClientForm,
  parseParameters,
  type RawParameters,
} from './parameters.ts'
import { ProtocolError } from './protocol-error.ts'

export interface Credentials {
  readonly clientId: string
  readonly clientSecret: string
}

export interface PresentedSecret extends Credentials {
  /**
   * The same Basic credentials without form-decoding, if that makes a difference: RFC 6749, section 2.3.1, requires
   * clients to encode them, and curl, Python's requests and many others do not.
   */
  readonly verbatim?: Credentials | undefined
}

export interface PresentedAssertion {
  readonly assertion: string
  /** Set if it is sent along with the assertion, which contains it. */
  readonly clientId: string | undefined
}

export type PresentedCredentials = PresentedSecret | PresentedAssertion

/**
 * Reads `client_secret_post` or `client_secret_basic` (RFC 6749, section 2.3.1), or `private_key_jwt` (RFC 7523), and
 * rejects more than one of them.
 */
export function presentedCredentials(
  authorization: string | undefined,
  form: RawParameters,
): PresentedCredentials {
  if (form['client_assertion'] !== undefined || form['client_assertion_type'] !== undefined) {
    if (isBasic(authorization) || form['client_secret'] !== undefined)
      throw new ProtocolError('two_authentication_methods')
    const { client_assertion, client_id } = parseParameters(assertionForm, form)
    return { assertion: client_assertion, clientId: client_id }
  }
  if (!isBasic(authorization)) {
    const { client_id, client_secret } = parseParameters(clientForm, form)
    return { clientId: client_id, clientSecret: client_secret }
  }
  const credentials = parseBasic(authorization.slice('basic '.length).trim())
  const { client_id, client_secret } = parseParameters(optionalClientForm, form)
  const clientIds = [credentials.clientId, credentials.verbatim?.clientId, undefined]
  if (client_secret !== undefined || !clientIds.includes(client_id)) {
    throw new ProtocolError('two_authentication_methods')
  }
  return credentials
}

/**
 * The same for endpoints whose errors are those of RFC 6749 alone.
 *
 * @throws {@link ProtocolError} `invalid_client` without any, which the response turns into a challenge (section 5.2)
 */
export function requiredCredentials(
  authorization: string | undefined,
  form: RawParameters,
): PresentedCredentials {
  if (!presentsCredentials(authorization, form)) throw new ProtocolError('missing_credentials')
  return presentedCredentials(authorization, form)
}

/** Whether a request contains any of them. */
export function presentsCredentials(authorization: string | undefined, form: RawParameters): boolean {
  return (
    isBasic(authorization) || form['client_secret'] !== undefined || form['client_assertion'] !== undefined
  )
}

function isBasic(authorization: string | undefined): authorization is string {
  return authorization !== undefined && /^basic /i.test(authorization)
}

function parseBasic(encoded: string): PresentedSecret {
  const text = /^[\w+/-]+={0,2}$/.test(encoded) ? Buffer.from(encoded, 'base64').toString() : ''
  const [id, ...rest] = text.split(':') as [string, ...string[]]
  const secret = rest.join(':')
  const verbatim = validCredentials(id, secret)
  const decoded = validCredentials(formDecode(id), formDecode(secret))
  const credentials = decoded ?? verbatim
  if (!credentials) throw new ProtocolError('malformed_authorization')
  const differs =
    verbatim?.clientId !== credentials.clientId || verbatim.clientSecret !== credentials.clientSecret
  return { ...credentials, ...(verbatim && differs && { verbatim }) }
}

function validCredentials(id: string | undefined, secret: string | undefined): Credentials | undefined {
  const { data } = clientForm.safeParse({ client_id: id, client_secret: secret })
  return data && { clientId: data.client_id, clientSecret: data.client_secret }
}

function formDecode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}
