import type { AccessToken } from '../tokens/access-token.ts'
import type { TokenAttachmentEvent } from '../tokens/token-event.ts'
import type { GetTokenOptions, TokenProvider } from './token-provider.ts'

/** A request whose token an API rejected. */
export interface RejectedRequest {
  /** The URL that rejected it. */
  readonly url: string
  /** 2 if the token was itself a replacement: no other one is requested, and the path causes none for a while. */
  readonly attempt: 1 | 2
  /** Whether the request will be sent again. */
  readonly repeatable: boolean
  readonly signal?: AbortSignal | undefined
}

/** Options of {@link AttachableTokenProvider.getToken}. */
export interface GetTokenToAttachOptions extends GetTokenOptions {
  /** For a request that cannot be repeated: after a rejection, it waits for the replacement. @default false */
  readonly waitForReplacement?: boolean | undefined
}

/**
 * What attachers use of a provider: every provider of this package is one. A wrapper that delegates these methods
 * behaves as the provider does.
 */
export interface AttachableTokenProvider extends TokenProvider {
  getToken(options?: GetTokenToAttachOptions): Promise<AccessToken>
  /**
   * Reports that an API rejected the token of one request. Other requests continue to use that token until its
   * replacement has arrived.
   *
   * @returns the token to send the request with once more; undefined if it is not sent again
   * @throws {TokenError} if no other token is available
   */
  replaceRejected(token: AccessToken, request: RejectedRequest): Promise<AccessToken | undefined>
  /**
   * The provider of tokens that have the scopes which an API requires (403 `insufficient_scope`, RFC 6750, section 3.1) as
   * well. The cached token stays: it is not rejected. Undefined if the application does not allow the scopes, or if too many
   * responses have required others.
   *
   * @param url the URL that required them
   */
  widen?(scopes: readonly string[], url: string): AttachableTokenProvider | undefined
  /** Passes on to the listeners what happened to a request. */
  report(event: TokenAttachmentEvent): void
}
