import {
  TokenError,
  type ClientAuthentication,
  type ClientAuthenticationMethod,
  type FetchLike,
} from '@tokenwell/core'
import { dropsBackgroundWork } from '@tokenwell/core/adapter'
import {
  configurationError,
  createClientAuthentication,
  errorCode,
  noStore,
  readBody,
  retryAfter,
  secureUrl,
} from '@tokenwell/core/protocol'
import fastq from 'fastq'
import { oneOf, rejectionReason, type RejectionReason } from '../http/rejection-reason.ts'
import { tokenError } from '../http/token-verification-error.ts'
import { orAborted, withDeadline } from './deadline.ts'
import {
  findRestriction,
  narrowToken,
  toVerifiedToken,
  type TokenRestrictions,
  type VerifiedToken,
} from './requirements.ts'
import type { CheckResult, TokenCheck } from './token-check.ts'

/** Where tokens are introspected, and this API's own credentials there. Pass `authUrl` or `introspectionUrl`. */
export interface IntrospectionOptions {
  /** Base URL of the platform's token service. */
  readonly authUrl?: string | URL | undefined
  /** URL of any other RFC 7662 introspection endpoint. */
  readonly introspectionUrl?: string | URL | undefined
  /** Client ID of this API. */
  readonly clientId: string
  /** A function is called before each request. */
  readonly clientSecret?: string | (() => string | Promise<string>) | undefined
  /** How the API authenticates. @default 'client_secret_basic' */
  readonly clientAuthentication?: ClientAuthenticationMethod | ClientAuthentication | undefined
  /** Whether a response without `aud` is rejected; requires `audience`. @default false */
  readonly requireAudience?: boolean | undefined
  /** How long a result is reused, valid or not; never past the token's expiry. @default 10_000 */
  readonly cacheMs?: number | undefined
  /** How much longer a result is reused while the endpoint cannot be reached. @default 0 */
  readonly staleIfErrorMs?: number | undefined
  /** Deadline for a check, waiting included. @default 5_000 */
  readonly timeoutMs?: number | undefined
  /** Maximum number of concurrent requests to the endpoint. @default 10 */
  readonly maxConnections?: number | undefined
  /** Maximum number of checks that wait for a connection; beyond it, unknown tokens get a 503. @default 1_000 */
  readonly maxWaiting?: number | undefined
}

interface Task {
  readonly token: string
  readonly signal: AbortSignal
}

interface IntrospectionCheckOptions {
  readonly fetch?: FetchLike | undefined
  readonly allowInsecureRequests?: boolean | undefined
  readonly waitUntil?: ((work: Promise<unknown>) => void) | undefined
}

/** Which tokens of an issuer are accepted. */
export interface AcceptedTokens extends TokenRestrictions {
  readonly audience?: string | readonly string[] | false | undefined
}

/** Which tokens of an issuer are accepted, or why none are; called with undefined if a response has no `iss`. */
export type FindAccepted = (
  iss: unknown,
) => AcceptedTokens | RejectionReason | Promise<AcceptedTokens | RejectionReason>

export interface IntrospectionCheck extends TokenCheck {
  /** @param signed what a JWT says whose signature and claims were checked: the result is what is left of it */
  check(token: string, known: boolean, signed?: VerifiedToken): Promise<CheckResult>
}

/** Checks tokens by introspection, with few connections at a time: known tokens first. */
export function createIntrospectionCheck(
  introspection: IntrospectionOptions,
  options: IntrospectionCheckOptions,
  findAccepted: FindAccepted,
): IntrospectionCheck {
  const { fetch, allowInsecureRequests } = options
  const introspector = createIntrospector({ ...introspection, fetch, allowInsecureRequests })
  const {
    timeoutMs = 5_000,
    maxConnections = 10,
    maxWaiting = 1_000,
    requireAudience = false,
  } = introspection
  const queue = fastq.promise(
    ({ token, signal }: Task) => introspector.introspect(token, signal),
    maxConnections,
  )

  // One for all: in a burst, thousands of stack traces would take longer than everything else.
  const queueIsFull = new TokenError({
    kind: 'throttled',
    message: `${maxWaiting} tokens are already waiting for introspection (maxWaiting).`,
    retryAfterMs: 1_000,
  })
  // The queue would count by walking through it.
  let unfinished = 0

  // Workers drop the I/O of a request that has ended: another one must not depend on it, unless it is handed to waitUntil.
  const isQueued = options.waitUntil !== undefined || !dropsBackgroundWork()

  const introspect = async (token: string, known: boolean): Promise<IntrospectionResponse> => {
    if (!isQueued) {
      return withDeadline(timeoutMs, (signal) => introspector.introspect(token, signal))
    }
    if (!known && unfinished >= maxConnections + maxWaiting) {
      throw queueIsFull
    }
    unfinished++
    try {
      return await withDeadline(timeoutMs, (signal) =>
        known ? queue.unshift({ token, signal }) : queue.push({ token, signal }),
      )
    } finally {
      unfinished--
    }
  }

  const cacheMs = introspection.cacheMs ?? 10_000
  return {
    method: 'introspection',
    cacheMs: { valid: cacheMs, invalid: cacheMs },
    staleIfErrorMs: introspection.staleIfErrorMs ?? 0,
    timeoutMs,
    toleranceMs: 0,
    async check(token, known, signed) {
      const response = withTimes(await introspect(token, known))
      const inactive = findInactive(response)
      if (inactive) return { reason: inactive }
      const { iss = signed?.issuer, aud } = response
      if (signed && iss !== signed.issuer) {
        return { reason: rejectionReason('iss', iss, `${signed.issuer}, as in the JWT`) }
      }
      const accepted = await findAccepted(iss)
      if ('claim' in accepted) return { reason: accepted }
      const verified = signed ? narrowToken(signed, response) : toVerifiedToken(response)
      // Issuer and audience are optional in introspection responses (RFC 7662, section 2.2).
      const otherAudience =
        aud === undefined && !requireAudience ? undefined : findOtherAudience(aud, accepted, signed)
      const reason = otherAudience ?? findRestriction(verified, accepted)
      return reason ? { reason } : { token: verified }
    },
  }
}

function findInactive({ active, exp, nbf }: IntrospectionResponse): RejectionReason | undefined {
  // Any other value is not a decision, such as the text "false".
  if (active !== true) return rejectionReason('active', active, 'the boolean true')
  for (const [claim, time] of Object.entries({ exp, nbf })) {
    if (time !== undefined && !Number.isFinite(time)) return rejectionReason(claim, time, 'a number')
  }
  return undefined
}

/** A JWT must state itself the audience that the response names. */
function findOtherAudience(
  aud: unknown,
  { audience }: AcceptedTokens,
  signed: VerifiedToken | undefined,
): RejectionReason | undefined {
  if (audience === undefined) return undefined
  if (audience === false) return aud === undefined ? undefined : rejectionReason('aud', aud, 'no aud', 'aud')
  const names = [audience].flat().filter((name) => !signed || signed.audience.includes(name))
  const isFor = [aud].flat().some((each) => names.includes(each as string))
  return isFor ? undefined : rejectionReason('aud', aud, oneOf(names), 'aud')
}

const platformPath = '/oauth/introspect'

/** RFC 7662, section 2.2. */
type IntrospectionResponse = Readonly<Record<string, unknown>>

interface Introspector {
  /** @throws {TokenError} unless the response is JSON with status 200 */
  introspect(token: string, signal: AbortSignal): Promise<IntrospectionResponse>
}

/** Sends introspection requests (RFC 7662, section 2). */
function createIntrospector(
  options: IntrospectionOptions & {
    readonly fetch?: FetchLike | undefined
    readonly allowInsecureRequests?: boolean | undefined
  },
): Introspector {
  const url = introspectionEndpoint(options)
  const address = `${url.origin}${url.pathname}`
  const { clientId } = options
  if (!clientId)
    throw configurationError(
      'introspection.clientId is missing. Set the client ID of the resource server that is registered for this API.',
    )
  const authentication = authenticationOf(options)

  const buildRequest = async (token: string, signal: AbortSignal): Promise<RequestInit> => {
    const body = new URLSearchParams({ token, token_type_hint: 'access_token' })
    const headers = new Headers({ accept: 'application/json' })
    const request = { clientId, tokenEndpoint: url, body, headers, signal }
    await (await authentication()).authenticate(request)
    return { method: 'POST', headers, body, signal, redirect: 'manual', ...noStore() }
  }

  return {
    async introspect(token, signal) {
      let init: RequestInit
      try {
        init = await orAborted(signal, buildRequest(token, signal))
      } catch (error) {
        throw tokenError(
          'unavailable',
          `The credentials for the introspection endpoint ${address} are not available (${errorCode(error)}). Check introspection.clientSecret and introspection.clientAuthentication.`,
        )
      }
      let response: Response
      let text: string
      try {
        // Looked up now, so that a fetch replaced by instrumentation is used.
        response = await orAborted(signal, (options.fetch ?? globalThis.fetch)(url.href, init))
        text = await orAborted(signal, readBody(response))
      } catch (error) {
        throw tokenError(
          'unavailable',
          `Could not reach the introspection endpoint ${address} (${errorCode(error)}).`,
        )
      }
      const { status } = response
      if (status === 401) {
        throw new TokenError({
          kind: 'credentials',
          status,
          message: `The introspection endpoint ${address} rejected the credentials of client "${clientId}" (401). Check introspection.clientId and introspection.clientSecret.`,
        })
      }
      if (status !== 200) {
        const message = `The introspection endpoint ${address} responded with status ${status}.`
        throw new TokenError({
          kind: 'unavailable',
          status,
          message,
          retryAfterMs: retryAfter(response.headers),
        })
      }
      return readIntrospection(text, address)
    },
  }
}

function introspectionEndpoint({
  authUrl,
  introspectionUrl,
  allowInsecureRequests,
}: Parameters<typeof createIntrospector>[0]): URL {
  if ((authUrl === undefined) === (introspectionUrl === undefined)) {
    throw configurationError('introspection requires authUrl or introspectionUrl, but not both.')
  }
  if (introspectionUrl !== undefined) {
    return secureUrl('introspection.introspectionUrl', introspectionUrl, allowInsecureRequests)
  }
  const url = secureUrl('introspection.authUrl', authUrl!, allowInsecureRequests)
  url.pathname = url.pathname.replace(/\/+$/, '') + platformPath
  return url
}

/** A response that is JSON, but deviates from RFC 7662, section 2.2, rejects its token, and no others. */
function readIntrospection(text: string, address: string): IntrospectionResponse {
  try {
    return Object(JSON.parse(text)) as IntrospectionResponse
  } catch {
    throw tokenError('malformed', `The response of the introspection endpoint ${address} is not JSON.`)
  }
}

/** Some servers write times as text, or null for none. */
function withTimes(response: IntrospectionResponse): IntrospectionResponse {
  const { exp, nbf, ...others } = response
  const times = Object.entries({ exp, nbf }).flatMap(([claim, time]) => {
    const isNumeric = typeof time === 'string' && /^\d+(?:\.\d+)?$/.test(time)
    return time === undefined || time === null ? [] : [[claim, isNumeric ? Number(time) : time]]
  })
  return { ...others, ...(Object.fromEntries(times) as IntrospectionResponse) }
}

/** How this API authenticates; a secret that a function returns is looked up for each request. */
function authenticationOf({
  clientSecret = '',
  clientAuthentication = 'client_secret_basic',
}: IntrospectionOptions): () => ClientAuthentication | Promise<ClientAuthentication> {
  if (typeof clientAuthentication === 'object') return () => clientAuthentication
  if (!['client_secret_basic', 'client_secret_post', 'none'].includes(clientAuthentication)) {
    throw configurationError(
      "introspection.clientAuthentication must be 'client_secret_basic', 'client_secret_post', 'none' or a ClientAuthentication object.",
    )
  }
  if (!clientSecret && clientAuthentication !== 'none') {
    throw configurationError(
      'introspection.clientSecret is missing. Set the client secret of the resource server that is registered for this API.',
    )
  }
  if (typeof clientSecret === 'function') {
    return async () => createClientAuthentication(clientAuthentication, await clientSecret())
  }
  const authentication = createClientAuthentication(clientAuthentication, clientSecret)
  return () => authentication
}
