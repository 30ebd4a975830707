import type { TokenRequestOptions } from '../protocol/build-token-request.ts'
import type { ClientAuthentication, ClientAuthenticationMethod } from '../protocol/client-authentication.ts'
import type { TokenBinding } from '../protocol/token-binding.ts'
import type { FetchLike } from './send-token-request.ts'

export type Resolvable<Value> = Value | (() => Value | Promise<Value>)

/**
 * A token endpoint, and how a client authenticates to it. Set `authUrl`, `tokenEndpoint` or `issuer`. A function that
 * returns the value of an option is called before each token request, so that a module can be loaded without its
 * environment.
 */
export interface TokenEndpointOptions extends Omit<
  TokenRequestOptions,
  'authUrl' | 'tokenEndpoint' | 'clientId'
> {
  /** Base URL of the platform's token service. */
  readonly authUrl?: Resolvable<string | URL | undefined>
  /** URL of any other RFC 6749 token endpoint. */
  readonly tokenEndpoint?: Resolvable<string | URL | undefined>
  /**
   * URL of an issuer, exactly as in its metadata, including any trailing slash. The token endpoint, and how to send a
   * secret, are found there with the first token request, by RFC 8414 or OpenID Connect Discovery.
   */
  readonly issuer?: Resolvable<string | undefined>
  /** URL at which tokens are revoked (RFC 7009). @default that of the `issuer`, or of the platform with `authUrl` */
  readonly revocationEndpoint?: string | URL | undefined
  /** Client ID, also called consumer key. */
  readonly clientId?: Resolvable<string> | undefined
  /** Client secret, also called consumer secret. */
  readonly clientSecret?: Resolvable<string> | undefined
  /**
   * Credentials in the form body (`post`), in an `Authorization: Basic` header (`basic`, RFC 6749, section
   * 2.3.1; some servers do not form-decode it and then reject special characters), the client ID alone
   * (`none`), or a method of your own.
   * @default 'client_secret_post', or what `issuer` offers
   */
  readonly clientAuthentication?: ClientAuthenticationMethod | ClientAuthentication | undefined
  /** Binds the tokens to a key (DPoP, RFC 9449), so that a stolen token is useless. @default bearer tokens */
  readonly binding?: TokenBinding | undefined
  /** Unit of `expires_in` in the response. @default 'seconds' */
  readonly expiresInUnit?: 'seconds' | 'milliseconds' | undefined
  /** @default the global fetch, looked up at each request */
  readonly fetch?: FetchLike | undefined
  /** Allows use in a browser, where anyone can read the secret. @default false */
  readonly dangerouslyAllowBrowser?: boolean | undefined
}
