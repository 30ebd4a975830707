import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  checkRequirements,
  type FindUser,
  type RequireTokenOptions,
  type VerifiedToken,
} from './checks/requirements.ts'
import { logFailure } from './http/failure-log.ts'
import { credentialsOf, NodeRequestFacts, type NodeRequest } from './http/node-request.ts'
import { TokenVerificationError } from './http/token-verification-error.ts'
import { metadataHeaders } from './verifier/resource-metadata.ts'
import type { TokenVerifier } from './verifier/token-verifier.ts'

declare global {
  // oxlint-disable-next-line typescript/no-namespace -- how Express lets others add to its request
  namespace Express {
    interface Request {
      /** The verified access token, set by `requireToken`. */
      accessToken?: VerifiedToken
    }
  }
}

/** Middleware for Express, Connect and compatible frameworks. */
export type ConnectMiddleware = (
  request: IncomingMessage,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void

export interface ExpressTokenOptions extends RequireTokenOptions<IncomingMessage> {
  /** Finds `request.user`, after everything that is required has been checked. */
  readonly user?: FindUser<IncomingMessage> | undefined
}

/**
 * Accepts requests with a valid access token, and rejects all others. The token is `request.accessToken`; with `optional`, it
 * is undefined for a request without a token.
 *
 * @example
 * app.use('/orders', requireToken(verifier, { products: ['orders'] }))
 */
export function requireToken(
  verifier: TokenVerifier,
  { clientCertificate, optional, user, ...requirements }: ExpressTokenOptions = {},
): ConnectMiddleware {
  checkRequirements(requirements)
  const handle = async (
    request: IncomingMessage & NodeRequest & { accessToken?: VerifiedToken; user?: unknown },
    response: ServerResponse,
    next: (error?: unknown) => void,
  ): Promise<void> => {
    const facts = new NodeRequestFacts(request, clientCertificate)
    let found: unknown
    try {
      const token = await verifier.verify(credentialsOf(request), {
        ...requirements,
        optional,
        findUser: user && (async (verified) => (found = await user(verified, request))),
        request: facts,
      })
      if (token) request.accessToken = token
      if (found !== undefined) request.user = found
    } catch (error) {
      try {
        return sendRejection(response, error)
      } catch (failure) {
        return next(failure)
      }
    }
    next()
  }
  return (request, response, next) => void handle(request, response, next)
}

/**
 * Serves the API's metadata (RFC 9728) at its well-known path; every other request passes.
 *
 * @example
 * app.use(resourceMetadata(verifier))
 * app.use('/mcp', requireToken(verifier, { scopes: ['tools'] }))
 */
export function resourceMetadata({ resourceMetadata: metadata }: TokenVerifier): ConnectMiddleware {
  return (request: IncomingMessage & { originalUrl?: string }, response, next) => {
    const [path] = (request.originalUrl ?? request.url ?? '').split('?', 1)
    if (metadata === undefined || path !== metadata.path || !/^(?:GET|HEAD)$/.test(request.method ?? '')) {
      return next()
    }
    for (const [name, value] of Object.entries(metadataHeaders)) response.setHeader(name, value)
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(metadata.document))
  }
}

function sendRejection(response: ServerResponse, error: unknown): void {
  if (!(error instanceof TokenVerificationError)) throw error
  logFailure(error)
  // Another middleware has responded, such as one that limits the time of requests.
  if (response.headersSent) return
  const body = JSON.stringify(error.body)
  response.statusCode = error.status
  for (const [name, value] of Object.entries(error.headers)) response.setHeader(name, value)
  response.setHeader('content-type', 'application/json; charset=utf-8')
  response.end(body)
}
