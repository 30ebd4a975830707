import { describe } from 'vitest'
import type { AttachableTokens, TokenProvider } from '@tokenwell/core'
import type { AdapterUnderTest } from './adapter-under-test.ts'
import { describeBodies } from './describe-bodies.ts'
import { describeBoundTokens } from './describe-bound-tokens.ts'
import { describeOrigins } from './describe-origins.ts'
import { describeRejections } from './describe-rejections.ts'
import { describeResources } from './describe-resources.ts'
import { describeSchemes } from './describe-schemes.ts'
import { describeScripts } from './describe-scripts.ts'
import { describeSecrets } from './describe-secrets.ts'
import { describeTenants } from './describe-tenants.ts'

/**
 * Defines the tests that every adapter passes, over real HTTP, compared with what its client does without the adapter:
 * with a provider, and with a wrapper of one that delegates its methods by their names.
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
  describeTokens(`${adapter.name} with tokens`, adapter)
  describe(`${adapter.name} with tokens`, () => describeScripts(adapter))
  describeTokens(`${adapter.name} with the tokens of a wrapped provider`, {
    ...adapter,
    createClient: (attach) =>
      adapter.createClient(attach && { ...attach, tokens: wrapTokens(attach.tokens) }),
  })
}

function describeTokens(title: string, adapter: AdapterUnderTest): void {
  describe(title, () => {
    describeBodies(adapter)
    describeOrigins(adapter)
    describeSchemes(adapter)
    describeRejections(adapter)
    describeSecrets(adapter)
    describeBoundTokens(adapter)
    describeTenants(adapter)
    describeResources(adapter)
  })
}

function wrapTokens(tokens: AttachableTokens): AttachableTokens {
  if (typeof tokens !== 'function') return wrapProvider(tokens)
  return (request) => {
    const selected = tokens(request)
    return selected && wrapProvider(selected)
  }
}

/** A provider as an application wraps it: an object with the documented methods. */
function wrapProvider(tokens: TokenProvider): TokenProvider {
  return {
    getToken: (options) => tokens.getToken(options),
    peekToken: () => tokens.peekToken(),
    reject: (token) => tokens.reject(token),
    replaceRejected: (token, request) => tokens.replaceRejected(token, request),
    sendFirst: (request) => tokens.sendFirst?.(request),
    reportSuccess: (urlOf) => tokens.reportSuccess?.(urlOf),
    report: (event) => tokens.report(event),
    reset: () => tokens.reset(),
    revoke: () => tokens.revoke(),
    subscribe: (listener) => tokens.subscribe(listener),
    close: (options) => tokens.close(options),
    [Symbol.asyncDispose]: () => tokens.close(),
  }
}
