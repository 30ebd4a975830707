import {
  createTokenAttacher,
  isRepeatableBody,
  type Attachment,
  type AttachOptions,
  type TokenProvider,
} from '@tokenwell/core'
import type { Hooks, Options } from 'ky' with { 'resolution-mode': 'import' }

/**
 * Creates ky options that attach tokens. If the API rejects a token, the request is sent once more with a new one,
 * unless it has a body that is a stream or `retry` is 0. A single request opts out by `context: { token: false }`.
 *
 * @example
 * const api = ky.extend(tokenHooks(tokens, { allowedOrigins: ['https://api.example.com'] }))
 *
 * @throws {TokenError} of kind `configuration`, naming the option; a request that gets no token is not sent and fails
 * with a `TokenError`
 */
export function tokenHooks(tokens: TokenProvider, options: AttachOptions): { readonly hooks: Hooks } {
  const attacher = createTokenAttacher(tokens, options)

  // Wraps fetch instead of changing the request: the final URL is checked, ky's timeouts and retries cover the token
  // request, and no request in a hook or an error carries the token.
  const init = (ky: Options): void => {
    if (ky.context?.['token'] === false) return
    const send = ky.fetch ?? ((input, init) => globalThis.fetch(input, init))
    const retries = typeof ky.retry === 'object' ? ky.retry.limit : ky.retry

    ky.fetch = async (input, init) => {
      const request = input as Request
      if (request.headers.has(attacher.header)) return send(request, init)
      const attachment = await attacher.attach(request.url, request.signal)
      if (attachment === undefined) return send(request, init)
      const sendWith = (request: Request, { header, value }: Attachment) => {
        const headers = new Headers(request.headers)
        headers.set(header, value)
        return send(request, { ...init, headers, ...(!attacher.followsRedirects && { redirect: 'manual' }) })
      }
      const buffered = ky.json !== undefined || (ky.body != null && isRepeatableBody(ky.body))
      const repeatable = request.body === null || (buffered && retries !== 0)
      const copy = repeatable && request.body ? request.clone() : request
      const response = await sendWith(request, attachment)
      const next = await attacher.reattach(attachment, response, repeatable, request.signal)
      if (next === undefined) return response
      // Frees the connection.
      response.body?.cancel().catch(() => {})
      return sendWith(copy, next)
    }
  }
  return { hooks: { init: [init] } }
}
