import { TokenError } from '@tokenwell/core'
import fastq from 'fastq'
import { withDeadline } from '../runtime/deadline.ts'
import type { IntrospectionOptions, TokenVerifierOptions } from '../options/token-verifier-options.ts'
import { createIntrospector } from './introspect-token.ts'
import type { TokenCheck, TokenClaims } from './token-check.ts'

interface Task {
  readonly token: string
  readonly signal: AbortSignal
}

/** Checks tokens by introspection, with few connections at a time: known tokens first. */
export function createIntrospectionCheck(
  options: TokenVerifierOptions & { readonly introspection: IntrospectionOptions },
): TokenCheck {
  const { introspection, fetch, allowInsecureRequests } = options
  const introspector = createIntrospector({ ...introspection, fetch, allowInsecureRequests })
  const { timeoutMs = 5_000, maxConnections = 10, maxWaiting = 1_000 } = introspection
  const queue = fastq.promise(
    ({ token, signal }: Task) => introspector.introspect(token, signal),
    maxConnections,
  )

  const ask = async (task: Task, known: boolean): Promise<TokenClaims | undefined> => {
    if (!sharesWork(options)) return introspector.introspect(task.token, task.signal)
    if (known) return queue.unshift(task)
    if (queue.length() < maxWaiting) return queue.push(task)
    throw new TokenError({
      kind: 'throttled',
      message: `${maxWaiting} tokens are already waiting for introspection (maxWaiting).`,
      retryAfterMs: 1_000,
    })
  }

  const cacheMs = introspection.cacheMs ?? 10_000
  return {
    method: 'introspection',
    cacheMs: { valid: cacheMs, invalid: cacheMs },
    staleIfErrorMs: introspection.staleIfErrorMs ?? 0,
    toleranceMs: 0,
    async check(token, known) {
      const claims = await withDeadline(timeoutMs, (signal) => ask({ token, signal }, known))
      return claims && isFor(claims, options) ? claims : undefined
    },
  }
}

/** Both claims are optional in introspection responses (RFC 7662, section 2.2). */
function isFor(
  { iss, aud }: TokenClaims,
  { issuer, issuers, audience: shared }: TokenVerifierOptions,
): boolean {
  const known = typeof issuers === 'object' ? issuers.map((one) => one.issuer) : [issuer ?? iss]
  if (iss !== undefined && !known.includes(iss)) return false
  const of = typeof issuers === 'object' ? issuers.find((one) => one.issuer === iss) : undefined
  const audience = of?.audience ?? shared
  if (audience === undefined || aud === undefined) return true
  const accepted = [audience].flat()
  return [aud].flat().some((each) => accepted.includes(each as string))
}

/**
 * Whether a promise of one request may be awaited by others. Workers drop the I/O of a request that has ended:
 * promises that depend on it never settle, unless it was handed to `waitUntil`.
 */
export function sharesWork({ waitUntil }: { readonly waitUntil?: unknown }): boolean {
  return waitUntil !== undefined || globalThis.navigator?.userAgent !== 'Cloudflare-Workers'
}
