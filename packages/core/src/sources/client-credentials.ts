import { buildTokenRequest, scopes, type TokenRequest } from '../protocol/build-token-request.ts'
import { digest } from '../platform/digest.ts'
import { onCredentialsChange } from '../tokens/credentials-change.ts'
import { Redacted } from '../platform/redacted.ts'
import { configurationError } from '../protocol/secure-url.ts'
import { errorCode, sendTokenRequest, type FetchLike } from './send-token-request.ts'
import { TokenError } from '../protocol/token-error.ts'
import type { TokenResponse } from '../protocol/token-response.ts'
import type { TokenSource } from '../tokens/token-source.ts'

/** How an application proves itself to a token endpoint. Give `authUrl` or `tokenUrl`. */
export interface ClientCredentialsOptions {
  /** Base address of the platform's token service. */
  readonly authUrl?: string | URL | undefined
  /** Address of any RFC 6749 token endpoint instead. */
  readonly tokenUrl?: string | URL | undefined
  /** Client ID, also called Consumer Key. */
  readonly clientId: string
  /** Client secret, also called Consumer Secret. A function is asked before each token request. */
  readonly clientSecret: string | (() => string | Promise<string>)
  /**
   * Credentials in the form body (`post`), or form-encoded in an `Authorization: Basic` header (`basic`,
   * RFC 6749, section 2.3.1; some servers skip the form-decoding, and then refuse special characters).
   * @default 'post'
   */
  readonly clientAuthentication?: 'post' | 'basic' | undefined
  /** RFC 6749, section 3.3. */
  readonly scope?: string | readonly string[] | undefined
  readonly audience?: string | undefined
  /** RFC 8707. */
  readonly resource?: string | readonly string[] | undefined
  /** Further form parameters; those with an option of their own are an error. */
  readonly extraParameters?: Readonly<Record<string, string>> | undefined
  /** Unit of the answer's `expires_in`. @default 'seconds' */
  readonly expiresInUnit?: 'seconds' | 'milliseconds' | undefined
  /** @default the global fetch, looked up at each request */
  readonly fetch?: FetchLike | undefined
  /** Allows plain HTTP to hosts other than loopback. @default false */
  readonly allowInsecure?: boolean | undefined
  /** Allows use in a browser, where anybody can read the secret. @default false */
  readonly dangerouslyAllowBrowser?: boolean | undefined
}

/**
 * Tokens from a token endpoint by the client credentials grant (RFC 6749, section 4.4).
 *
 * @example
 * const tokens = createTokenProvider(clientCredentials({ authUrl, clientId, clientSecret }))
 * const { value } = await tokens.getToken()
 *
 * @throws {TokenError} of kind `configuration`, naming the option, for options that cannot be right
 */
export function clientCredentials(options: ClientCredentialsOptions): TokenSource {
  return new ClientCredentials({ ...options })
}

/** A class, and nothing made before it is needed: pools hold many of these. */
class ClientCredentials extends Redacted implements TokenSource {
  readonly #options: ClientCredentialsOptions

  constructor(options: ClientCredentialsOptions) {
    super()
    const { window } = globalThis as { window?: { document?: unknown } }
    if (window?.document && !options.dangerouslyAllowBrowser) {
      throw configurationError(
        'clientCredentials would show the client secret to everybody who opens this page; ' +
          'use backendTokens, or set dangerouslyAllowBrowser: true',
      )
    }
    const { clientSecret } = options
    buildTokenRequest({
      ...options,
      clientSecret: typeof clientSecret === 'function' ? 'later' : clientSecret,
    })
    this.#options = options
  }

  async cacheKey(): Promise<string> {
    const scope = [...new Set(scopes(this.#options.scope))].sort()
    const { url, headers, body } = this.#request(await this.#secret(), { scope })
    const parameters = Array.from(new URLSearchParams(body), (pair) => JSON.stringify(pair)).sort()
    return digest([url, headers, parameters, this.#options.expiresInUnit ?? 'seconds'])
  }

  async requestToken({ signal }: { readonly signal: AbortSignal }): Promise<TokenResponse> {
    const secret = await this.#secret()
    try {
      const { url, ...init } = this.#request(secret)
      const { raw: _raw, ...response } = await sendTokenRequest(this.#options.fetch, url, { ...init, signal })
      if (this.#options.expiresInUnit !== 'milliseconds' || !response.expiresIn) return response
      return { ...response, expiresIn: response.expiresIn / 1000 }
    } catch (cause) {
      const error = withoutSecret(cause as TokenError, secret)
      if (typeof this.#options.clientSecret === 'function') {
        onCredentialsChange(error, async () => (await this.#secret()) !== secret)
      }
      throw error
    }
  }

  #request(clientSecret: string, changes?: Partial<ClientCredentialsOptions>): TokenRequest {
    return buildTokenRequest({ ...this.#options, ...changes, clientSecret })
  }

  async #secret(): Promise<string> {
    const { clientSecret } = this.#options
    if (typeof clientSecret === 'string') return clientSecret
    try {
      return await clientSecret()
    } catch (error) {
      throw new TokenError({
        kind: 'unavailable',
        message: `The clientSecret function failed (${errorCode(error)})`,
      })
    }
  }

  toJSON(): object {
    const { authUrl, tokenUrl, clientId } = this.#options
    return { tokenEndpoint: String(authUrl ?? tokenUrl).replace(/[?#].*$/s, ''), clientId }
  }
}

/** Some endpoints repeat what they were sent where a code belongs. */
function withoutSecret(error: TokenError, secret: string): TokenError {
  const { status, oauthError = '', vendorCode = '' } = error
  if (!secret || !(status ? oauthError + vendorCode : error.message).includes(secret)) return error
  const message = 'The token endpoint repeated the client secret in its answer'
  return new TokenError(Object.assign({}, error, { message, oauthError: undefined, vendorCode: undefined }))
}
