import { formEncode } from '../protocol/client-authentication.ts'
import { changeTokenError, TokenError, type TokenFailure } from '../protocol/token-error.ts'

/** A secret this long is recognised inside a code as well; a shorter one, such as `client`, occurs in codes by chance. */
const shortestInside = 12

/**
 * Some endpoints repeat what they received. A code that repeats a secret is dropped, in every form in which
 * the secret was sent.
 */
export function redactEchoedSecrets(error: TokenError, secrets: readonly string[]): TokenError {
  const { oauthError = '', vendorCode = '', cause } = error
  const repeats = (code: string): boolean =>
    secrets.some((secret) => code === secret || (secret.length >= shortestInside && code.includes(secret)))
  const { code } = Object(cause) as { code?: unknown }
  if (typeof code === 'string' && repeats(code)) {
    return new TokenError(Object.assign({}, error, { message: 'Could not reach the token endpoint.' }))
  }
  const changes: { -readonly [Fact in keyof TokenFailure]?: TokenFailure[Fact] } = {}
  if (repeats(oauthError) || repeats(vendorCode)) {
    changes.message = `The token endpoint repeated the client's credentials in its response (${error.status}). Report this to its operators.`
    changes.oauthError = changes.vendorCode = changes.reason = undefined
  }
  return changeTokenError(error, changes)
}

/** Every form in which a secret was sent: everything that the authentication added to the request. */
export function sentSecrets(
  secret: string,
  parametersBefore: ReadonlySet<string>,
  body: URLSearchParams,
  headers: Headers,
): string[] {
  const added = [...body].filter(
    ([name]) => !parametersBefore.has(name) && name !== 'client_id' && name !== 'client_assertion_type',
  )
  const authorization = headers.get('authorization')?.replace(/^\S+ /, '') ?? ''
  const proof = headers.get('dpop') ?? ''
  return [secret, formEncode(secret), authorization, proof, ...added.map(([, value]) => value)].filter(
    Boolean,
  )
}
