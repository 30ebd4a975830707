import { TokenError } from '@tokenwell/core'
import { notifyListener } from '@tokenwell/core/protocol'
import { asymmetricAlgorithms } from '../checks/algorithms.ts'
import { digest } from '../checks/digest.ts'
import type { DpopProofs } from '../checks/dpop-proofs.ts'
import {
  copyToken,
  findUnmetRequirement,
  requiredScopes,
  requiresAnything,
  type TokenRequirements,
  type VerifiedToken,
} from '../checks/requirements.ts'
import { checkBinding } from '../checks/token-binding.ts'
import {
  findMalformation,
  invalidToken,
  isAnonymous,
  readCredentials,
  type Credentials,
} from '../http/credentials.ts'
import { FailureLog } from '../http/failure-log.ts'
import type { VerifiedRequest } from '../http/node-request.ts'
import { rejectionReason, timeOf } from '../http/rejection-reason.ts'
import {
  createChallenge,
  nestBody,
  platformBody,
  standardBody,
  TokenVerificationError,
  type TokenVerificationFailure,
} from '../http/token-verification-error.ts'
import { CheckedTokens, type CheckedToken } from './checked-tokens.ts'
import { chooseCheck } from './choose-check.ts'
import { createResourceMetadata, type ResourceMetadata } from './resource-metadata.ts'
import {
  checkOptions,
  type TokenVerifierOptions,
  type VerificationEvent,
  type VerificationEventListener,
} from './token-verifier-options.ts'

export interface VerifyOptions extends TokenRequirements {
  /** Further requirements, for example of a route beside those of its router: all of them apply. */
  readonly and?: readonly TokenRequirements[] | undefined
  /** Whether a request without a token is accepted where nothing is required. @default false */
  readonly optional?: boolean | undefined
  /** Called after everything else has been checked; with undefined, null or false, the token is rejected. */
  readonly findUser?: ((token: VerifiedToken) => unknown) | undefined
  /** Required for tokens that are bound to a key or a certificate, which are rejected without it. */
  readonly request?: VerifiedRequest | undefined
}

/** Verifies the access tokens of an API's requests. */
export interface TokenVerifier {
  /**
   * @param authorization the `Authorization` header; all of them if the runtime provides several
   * @returns the token; with `optional`, undefined for a request without one
   * @throws {TokenVerificationError} which holds the response to the request
   */
  verify(
    authorization: string | readonly string[] | undefined,
    options?: VerifyOptions & { readonly optional?: false | undefined },
  ): Promise<VerifiedToken>
  verify(
    authorization: string | readonly string[] | undefined,
    options?: VerifyOptions,
  ): Promise<VerifiedToken | undefined>
  /** What the API publishes about itself (RFC 9728); undefined without the option `resource`. The adapters serve it. */
  readonly resourceMetadata?: ResourceMetadata | undefined
  /** Calls `listener` with every event; returns a function that removes the listener. Errors thrown by a listener are ignored. */
  subscribe(listener: VerificationEventListener): () => void
}

const bodies = { standard: standardBody, platform: platformBody, nest: nestBody }
const none: readonly never[] = []
const systemClock = { now: () => Date.now(), monotonic: () => performance.now() }

/**
 * Creates a verifier that checks opaque tokens by introspection (RFC 7662), JWTs by their signature (RFC 9068), or both.
 *
 * @example
 * const verifier = createTokenVerifier({ introspection: { authUrl, clientId, clientSecret } })
 * const { clientId } = await verifier.verify(request.headers.authorization, { products: ['orders'] })
 *
 * @throws {TokenError} of kind `configuration`, naming the option, for invalid options
 */
export function createTokenVerifier(options: TokenVerifierOptions): TokenVerifier {
  const { clock = systemClock, realm = 'api', dpop, errors = 'standard', onEvent, waitUntil } = options
  checkOptions(options)
  const listeners = new Set<VerificationEventListener>(onEvent && [onEvent])
  const report = (event: VerificationEvent): void => {
    for (const listener of listeners) void notifyListener(listener, event)
  }
  const failureLog = new FailureLog()
  const checkOf = chooseCheck({ ...options, clock })
  const checked = new CheckedTokens({
    maxCachedTokens: options.maxCachedTokens ?? 10_000,
    clock,
    waitUntil,
    report,
  })
  const offeredAlgorithms = dpop && (dpop.algorithms ?? asymmetricAlgorithms)
  const resourceMetadata = createResourceMetadata(options, offeredAlgorithms)
  const challenges = {
    realm,
    metadataUrl: resourceMetadata?.url,
    dpopAlgorithms: offeredAlgorithms,
    dpopRequired: dpop?.required === true,
  }
  const toBody = typeof errors === 'function' ? errors : bodies[errors]
  let proofs: Promise<DpopProofs> | undefined
  const loadProofs = (): Promise<DpopProofs> =>
    (proofs ??= import('../checks/dpop-proofs.ts').then(({ createDpopProofs }) =>
      createDpopProofs({
        ...dpop,
        algorithms: dpop?.algorithms ?? asymmetricAlgorithms,
        publicUrl: options.publicUrl,
        clock,
      }),
    ))

  const reject = (
    failure: TokenVerificationFailure,
    scheme?: Credentials['scheme'],
  ): TokenVerificationError => {
    const { code, clientId, reason } = failure
    const error = new TokenVerificationError(failure, createChallenge(failure, scheme, challenges), toBody)
    failureLog.select(error, clock.monotonic(), listeners.size > 0)
    report({
      type: 'request_rejected',
      code,
      status: error.status,
      clientId,
      ...(reason && { reason }),
      ...(error.cause instanceof TokenError && { error: error.cause }),
    })
    return error
  }

  const checkNow = async (key: string, token: string): Promise<CheckedToken> => {
    const malformation = findMalformation(token)
    if (malformation) throw reject(malformation)
    const check = checkOf(token)
    if ('claim' in check) throw reject({ ...invalidToken, reason: check })
    try {
      return await checked.check(key, token, check)
    } catch (error) {
      if (!(error instanceof TokenError)) throw error
      throw reject({
        code: 'unavailable',
        message: 'The access token cannot be checked at the moment. Try again in a few seconds.',
        retryAfterMs: error.retryAfterMs ?? 5_000,
        cause: error,
      })
    }
  }

  const verify = async (
    authorization: string | readonly string[] | undefined,
    { and = none, optional = false, findUser, request, ...requirements }: VerifyOptions = {},
  ): Promise<VerifiedToken | undefined> => {
    const all = [requirements, ...and]
    const credentials = readCredentials(authorization, challenges.dpopRequired)
    if ('code' in credentials) {
      if (optional && isAnonymous(authorization) && !all.some(requiresAnything)) {
        if (listeners.size > 0) {
          report({ type: 'request_accepted', clientId: undefined, cached: false, anonymous: true })
        }
        return undefined
      }
      // A client that knows no token yet learns which scopes to request.
      throw reject(resourceMetadata ? { ...credentials, scopes: requiredScopes(all) } : credentials)
    }
    const { scheme, token: value } = credentials
    const hash = digest(value)
    const key = typeof hash === 'string' ? hash : await hash
    const found = checked.find(key)
    const { result, check } = found ?? (await checkNow(key, value))
    if (result.token === undefined) throw reject({ ...invalidToken, reason: result.reason }, scheme)
    const token = copyToken(result.token)
    const now = clock.now() - check.toleranceMs
    if (isExpired(token, now)) {
      const expected = `a time after ${new Date(now).toISOString()}`
      throw reject(
        { ...invalidToken, reason: rejectionReason('exp', timeOf(token.claims['exp']), expected) },
        scheme,
      )
    }
    const confirmation = token.claims['cnf']
    if (confirmation !== undefined || scheme === 'dpop' || challenges.dpopRequired) {
      const bound = { token: value, scheme, confirmation }
      const failure = await checkBinding(bound, request, loadProofs, challenges.dpopRequired)
      if (failure) throw reject(failure, scheme)
    }
    const unmet = findUnmetRequirement(token, all)
    if (unmet) throw reject(unmet, scheme)
    if (findUser) {
      const user = await findUser(token)
      if (user === undefined || user === null || user === false) {
        const reason = rejectionReason('user', undefined, 'a user that the function `user` returns')
        throw reject({ ...invalidToken, reason, clientId: token.clientId }, scheme)
      }
    }
    if (listeners.size > 0) {
      report({
        type: 'request_accepted',
        clientId: token.clientId,
        cached: found !== undefined,
        anonymous: false,
      })
    }
    return token
  }

  return {
    resourceMetadata,
    verify: verify as TokenVerifier['verify'],
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

function isExpired({ expiresAt }: VerifiedToken, now: number): boolean {
  // A time that no Date can hold is not a number.
  return expiresAt !== undefined && !(expiresAt.getTime() > now)
}
