import type { ClientAuthentication, ClientAuthenticationRequest } from '../protocol/client-authentication.ts'
import type { ProofSource } from './grant-proof.ts'

/**
 * Client authentication by a JWT (RFC 7521, section 4.2; RFC 7523, section 2.2).
 *
 * @param getJwt returns a signed assertion; called for each attempt
 * @param options `fingerprint` identifies the key or the subject: part of the cache key, and a change ends a cooldown
 *
 * @example
 * clientCredentials({ tokenEndpoint, clientId, clientAuthentication: clientAssertion(() => readFile(tokenFile, 'utf8')) })
 */
export function clientAssertion(
  getJwt: ProofSource<ClientAuthenticationRequest>,
  options: { readonly fingerprint?: (() => string | Promise<string>) | undefined } = {},
): ClientAuthentication {
  let sent = ''
  return {
    async authenticate(request) {
      sent = (await getJwt(request)).trim()
      request.body.set('client_id', request.clientId)
      request.body.set('client_assertion_type', 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer')
      request.body.set('client_assertion', sent)
    },
    fingerprint: options.fingerprint ?? (() => 'client_assertion'),
    explain(error) {
      if (error.kind === 'credentials') getJwt.reject?.(sent)
    },
  }
}
