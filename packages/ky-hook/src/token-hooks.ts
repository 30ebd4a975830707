import type { AttachableTokens, AttachOptions } from '@tokenwell/core'
import { createTokenAttacher, fetchWithToken, isRepeatableBody } from '@tokenwell/core/adapter'
import type { Hooks, Options } from 'ky' with { 'resolution-mode': 'import' }

/** Options of {@link tokenHooks}. */
export interface TokenHooksOptions extends AttachOptions {
  /** The client's `prefix`, which is passed on to ky. Without `allowedOrigins`, tokens are sent to its origin. */
  readonly prefix?: string | URL | undefined
}

/**
 * Creates ky options that attach tokens. If the API rejects a token, the request is sent once more with a new one,
 * unless its body is a stream or larger than 1 MiB, or it has a body and `retry` is 0. A single request opts
 * out with `context: { token: false }`.
 *
 * @example
 * const api = ky.extend(tokenHooks(tokens, { prefix: 'https://api.example.com' }))
 *
 * @throws {TokenError} of kind `configuration`, naming the option; a request that gets no token is not sent and fails
 * with a `TokenError`
 */
export function tokenHooks(
  tokens: AttachableTokens,
  options: TokenHooksOptions,
): { readonly hooks: Hooks; readonly prefix?: string | URL } {
  const { prefix } = options ?? {}
  const attacher = createTokenAttacher(tokens, options, { option: 'prefix', url: prefix })

  // Wraps fetch instead of changing the request: the final URL is checked, ky's timeouts and retries cover the token
  // request, and no request in a hook or an error carries the token.
  const init = (ky: Options): void => {
    if (ky.context?.['token'] === false) return
    const send = ky.fetch ?? ((input, init) => globalThis.fetch(input, init))
    const retries = typeof ky.retry === 'object' ? ky.retry.limit : ky.retry
    // A stream is sent as it arrives; without retries, a body is sent once.
    const body = { keepsBody: isRepeatableBody(ky.body), repeatsBody: retries !== 0 }

    ky.fetch = (input, init) => {
      // ky has put their names in lower case, so nothing is lost, and a record is copied in a third of the time.
      const headers = input instanceof Request && { headers: Object.fromEntries(input.headers) }
      return fetchWithToken(attacher, send, input, { ...headers, ...init }, body)
    }
  }
  return { hooks: { init: [init] }, ...(prefix !== undefined && { prefix }) }
}
