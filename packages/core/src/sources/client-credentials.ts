import { digest } from '../runtime/digest.ts'
import { Redacted } from '../runtime/redacted.ts'
import { scopes, startTokenRequest } from '../protocol/build-token-request.ts'
import { configurationError } from '../protocol/configuration-error.ts'
import { isNextjsSignal } from '../protocol/nextjs-signal.ts'
import { parseTokenResponse } from '../protocol/parse-token-response.ts'
import type { TokenBinding, TokenEndpointResponse } from '../protocol/token-binding.ts'
import { isTokenError } from '../protocol/token-error.ts'
import type { TokenResponse } from '../protocol/token-response.ts'
import type { TokenRequestContext, TokenSource } from '../tokens/token-source.ts'
import { authenticationFailed, unexpectedType } from './client-credentials-errors.ts'
import type { ClientCredentialsOptions } from './client-credentials-options.ts'
import { redactEchoedSecrets, sentSecrets } from './redact-echoed-secrets.ts'
import { checkOptions, resolveClient, type ResolvedClient } from './resolve-client.ts'
import { sendTokenRequest, withoutQuery } from './send-token-request.ts'

/**
 * Requests tokens with the client credentials grant (RFC 6749, section 4.4).
 *
 * @example
 * const tokens = createTokenProvider(clientCredentials({ authUrl, clientId, clientSecret }))
 * const { value } = await tokens.getToken()
 *
 * @throws {TokenError} of kind `configuration`, naming the option, for invalid options
 */
export function clientCredentials(options: ClientCredentialsOptions): TokenSource {
  return new ClientCredentials({ ...options })
}

/** A class that creates nothing before it is needed, because pools keep many of these. */
class ClientCredentials extends Redacted implements TokenSource {
  readonly #options: ClientCredentialsOptions
  /** What the server rejected last; undefined if it cannot change. */
  #rejected: string | undefined

  constructor(options: ClientCredentialsOptions) {
    super()
    checkOptions(options)
    this.#options = options
  }

  get label(): string | undefined {
    const { clientId } = this.#options
    return typeof clientId === 'string' ? clientId : undefined
  }

  get binding(): TokenBinding | undefined {
    return this.#options.binding
  }

  async cacheKey(): Promise<string> {
    const { options, authentication } = await resolveClient(this.#options, false)
    const scope = [...new Set(scopes(options.scope))].sort()
    const { url, headers, body } = startTokenRequest({ ...options, scope })
    const key = await digest([
      url,
      options.clientId,
      await authentication.fingerprint(),
      Array.from(headers, (pair) => JSON.stringify(pair)).sort(),
      Array.from(body, (pair) => JSON.stringify(pair)).sort(),
      this.#options.expiresInUnit ?? 'seconds',
      ...(this.binding ? [await this.binding.fingerprint()] : []),
    ])
    if (key !== undefined) return key
    throw configurationError(
      'A shared token store requires WebCrypto. Load the page over HTTPS or from localhost.',
    )
  }

  async requestToken({ signal, label }: TokenRequestContext): Promise<TokenResponse> {
    const { fetch, binding, expiresInUnit } = this.#options
    this.#rejected = undefined
    const client = await resolveClient(this.#options, true)
    const { options, issuer, secret, authentication } = client
    const { clientId } = options
    const { url: tokenEndpoint } = startTokenRequest(options)
    const identity = { client: label ?? clientId, clientId, tokenEndpoint: withoutQuery(tokenEndpoint) }
    let sent: readonly string[] = secret ? [secret] : []
    let received: TokenEndpointResponse | undefined
    let revision: string | undefined
    const send = async (proof?: Readonly<Record<string, string>>): Promise<TokenEndpointResponse> => {
      const { url, headers, body } = startTokenRequest({
        ...options,
        headers: { ...options.headers, ...proof },
      })
      const parameters = new Set(body.keys())
      await authentication.authenticate({ clientId, tokenEndpoint, issuer, body, headers, signal })
      sent = sentSecrets(secret, parameters, body, headers)
      const init = { method: 'POST', headers: Object.fromEntries(headers), body: body.toString(), signal }
      return (received = await sendTokenRequest(fetch, url, init, clientId))
    }
    try {
      // Read before the request: credentials that are replaced while it is pending have not been tried yet.
      revision = await this.#revision(client)
      const { status, headers, body } = await (binding ? binding.send(tokenEndpoint, send) : send())
      const reading = { ...identity, secrets: sent }
      const { raw: _raw, ...response } = parseTokenResponse(status, headers, body, reading)
      const { tokenType = 'Bearer' } = binding ?? {}
      if (response.tokenType !== tokenType) throw unexpectedType(response, tokenType, identity)
      if (expiresInUnit !== 'milliseconds' || !response.expiresIn) return response
      return { ...response, expiresIn: response.expiresIn / 1000 }
    } catch (cause) {
      if (isNextjsSignal(cause)) throw cause
      if (!isTokenError(cause)) throw authenticationFailed(cause, identity)
      const error = redactEchoedSecrets(cause, sent)
      if (received) authentication.explain?.(error, received.headers)
      if (options.authUrl && (error.status === 404 || error.status === 405)) {
        error.message += ' If authUrl is the whole URL of a token endpoint, set tokenEndpoint instead.'
      }
      this.#rejected = error.kind === 'credentials' ? revision : undefined
      throw error
    }
  }

  async credentialsChanged(): Promise<boolean> {
    const rejected = this.#rejected
    return (
      rejected !== undefined && (await this.#revision(await resolveClient(this.#options, false))) !== rejected
    )
  }

  /** Changes with a secret, key or file that can change; a change ends the cooldown after a rejection. */
  async #revision({ authentication, options }: ResolvedClient): Promise<string | undefined> {
    const { clientId, clientSecret, clientAuthentication } = this.#options
    const canChange = [clientId, clientSecret, clientAuthentication].some(
      (option) => typeof option === 'function' || typeof option === 'object',
    )
    if (!canChange) return undefined
    return `${options.clientId} ${await (authentication.revision?.() ?? authentication.fingerprint())}`
  }

  toJSON(): object {
    const { authUrl, tokenEndpoint, issuer, clientId } = this.#options
    const shown = (value: unknown): unknown => (typeof value === 'function' ? '[function]' : value)
    return {
      tokenEndpoint: withoutQuery(String(shown(authUrl ?? tokenEndpoint ?? issuer?.issuer))),
      clientId: shown(clientId),
    }
  }
}
