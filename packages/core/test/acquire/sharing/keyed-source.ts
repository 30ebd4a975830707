import type { TokenSource } from '@tokenwell/core'
import { sourceOf, type ScriptedEndpoint } from '../../support/scripted-endpoint.ts'

/** A source whose cache key needs no digest, which would take real time. */
export function keyedSource(
  endpoint: ScriptedEndpoint,
  cacheKey = (): Promise<string> => Promise.resolve('key'),
) {
  const { requestToken } = bound(sourceOf(endpoint))
  return { cacheKey, requestToken } satisfies TokenSource
}

function bound(source: TokenSource): Pick<TokenSource, 'requestToken'> {
  return { requestToken: (context) => source.requestToken(context) }
}
