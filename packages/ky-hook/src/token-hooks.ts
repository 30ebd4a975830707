import {
  createTokenAttacher,
  isRepeatableBody,
  type Attachment,
  type AttachOptions,
  type TokenProvider,
} from '@tokenwell/core'
import type { Hooks, Options } from 'ky' with { 'resolution-mode': 'import' }

/**
 * Makes the options that have a ky client attach tokens; a request whose token was refused is sent once more
 * with a new one, unless its body is a stream or `retry` is 0. One request opts out by
 * `context: { token: false }`.
 *
 * @example
 * const api = ky.extend(tokenHooks(tokens, { allowedOrigins: ['https://api.example.com'] }))
 *
 * @throws {TokenError} of kind `configuration`, naming the option; a request fails with one when no token can
 * be had, and was then not sent
 */
export function tokenHooks(tokens: TokenProvider, options: AttachOptions): { readonly hooks: Hooks } {
  const attacher = createTokenAttacher(tokens, options)

  // Wraps fetch, rather than change the request: the token goes where the request goes in the end, is asked
  // for within ky's time limits and at each retry, and is in no request that ky shows to hooks and in errors.
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
      const known = ky.json !== undefined || (ky.body != null && isRepeatableBody(ky.body))
      const repeatable = retries !== 0 && (known || request.body === null)
      const spare = repeatable && request.body ? request.clone() : request
      const response = await sendWith(request, attachment)
      const next = await attacher.reattach(attachment, response, repeatable, request.signal)
      if (next === undefined) return response
      // Frees the connection.
      response.body?.cancel().catch(() => {})
      return sendWith(spare, next)
    }
  }
  return { hooks: { init: [init] } }
}
