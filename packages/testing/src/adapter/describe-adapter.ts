import { describe } from 'vitest'
import type { AdapterUnderTest } from './adapter-under-test.ts'
import { describeBodies } from './describe-bodies.ts'
import { describeBoundTokens } from './describe-bound-tokens.ts'
import { describeOrigins } from './describe-origins.ts'
import { describeRejections } from './describe-rejections.ts'
import { describeSecrets } from './describe-secrets.ts'

/**
 * Defines the tests that every adapter passes, over real HTTP, compared with what its client does without the adapter.
 *
 * @example
 * describeAdapter({
 *   name: 'fetch',
 *   createClient(attach) {
 *     const send = attach ? createTokenFetch(attach.tokens, attach.options) : fetch
 *     return async (request) => {
 *       const response = await send(request.url, toFetchInit(request))
 *       return { status: response.status, text: await response.text(), received: response }
 *     }
 *   },
 *   tokenErrorOf: (error) => error,
 * })
 */
export function describeAdapter(adapter: AdapterUnderTest): void {
  describe(`${adapter.name} with tokens`, () => {
    describeBodies(adapter)
    describeOrigins(adapter)
    describeRejections(adapter)
    describeSecrets(adapter)
    describeBoundTokens(adapter)
  })
}
