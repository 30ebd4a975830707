import type { ClientAuthentication, ClientAuthenticationRequest } from '../protocol/client-authentication.ts'

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
  getJwt: (request: ClientAuthenticationRequest) => string | Promise<string>,
  options: { readonly fingerprint?: (() => string | Promise<string>) | undefined } = {},
): ClientAuthentication {
  return {
    async authenticate(request) {
      const jwt = await getJwt(request)
      request.body.set('client_id', request.clientId)
      request.body.set('client_assertion_type', 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer')
      request.body.set('client_assertion', jwt.trim())
    },
    fingerprint: options.fingerprint ?? (() => 'client_assertion'),
  }
}
