import { createPublicKey, type JsonWebKey } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { JwtVerifier } from 'aws-jwt-verify'
import { SimpleJwksCache } from 'aws-jwt-verify/jwk'
import { auth } from 'express-oauth2-jwt-bearer'
import { createVerifier } from 'fast-jwt'
import { createLocalJWKSet, jwtVerify, type JWK } from 'jose'
import { createTokenVerifier } from '@tokenwell/resource-server'
import { requireToken } from '@tokenwell/resource-server/express'

/** An issuer with one key, which it serves at `/jwks`. */
export interface GivenIssuer {
  readonly issuer: string
  readonly audience: string
  readonly key: JWK
}

/** Verifies a token; fulfilled with its client. */
export type VerifyJwt = (token: string) => Promise<unknown>

export interface JwtLibrary {
  readonly name: string
  readonly checks: string
  /** A verifier that has seen no token yet, but knows the key. */
  readonly create: (given: GivenIssuer) => VerifyJwt
}

type Middleware = (
  request: IncomingMessage,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => unknown

/** Calls middleware as Express does; the request is as small as it can be. */
const through =
  (middleware: Middleware, clientOf: (request: object) => unknown): VerifyJwt =>
  (token) =>
    new Promise((resolve, reject) => {
      const authorization = `Bearer ${token}`
      const parts = {
        method: 'GET',
        url: '/',
        protocol: 'http',
        headers: { authorization, host: 'localhost' },
        rawHeaders: ['Authorization', authorization],
        query: {},
        socket: {},
        get: () => 'localhost',
        is: () => false,
      }
      const request = parts as unknown as IncomingMessage
      void middleware(request, {} as ServerResponse, (error) => {
        if (error) reject(error as Error)
        else resolve(clientOf(request))
      })
    })

const ours = ({ issuer, audience, key }: GivenIssuer) =>
  createTokenVerifier({ issuer, audience, jwks: { keys: [key] } })

const claims = 'signature, `iss`, `aud`, times, `typ`, the claims of RFC 9068'

/** In the order of the page. */
export const jwtLibraries = {
  ours: {
    name: '@tokenwell/resource-server',
    checks: `${claims}; again after 10 s`,
    create(given) {
      const verifier = ours(given)
      return async (token) => (await verifier.verify(`Bearer ${token}`)).clientId
    },
  },
  'ours-express': {
    name: '@tokenwell/resource-server, its middleware',
    checks: `${claims}; again after 10 s`,
    create: (given) =>
      through(
        requireToken(ours(given)),
        (request) => (request as { accessToken?: { clientId?: string } }).accessToken?.clientId,
      ),
  },
  jose: {
    name: 'jose',
    checks: claims,
    create({ issuer, audience, key }) {
      const keys = createLocalJWKSet({ keys: [key] })
      const requiredClaims = ['exp', 'sub', 'client_id', 'iat', 'jti']
      const options = { issuer, audience, typ: 'at+jwt', algorithms: ['RS256'], requiredClaims }
      return async (token) => (await jwtVerify(token, keys, options)).payload['client_id']
    },
  },
  'express-oauth2-jwt-bearer': {
    name: 'express-oauth2-jwt-bearer, its middleware',
    checks: claims,
    create: ({ issuer, audience }) =>
      through(
        auth({
          issuer,
          audience,
          jwksUri: `${issuer}/jwks`,
          tokenSigningAlg: 'RS256',
          strict: true,
        }) as never,
        (request) => (request as { auth?: { payload: Record<string, unknown> } }).auth?.payload['client_id'],
      ),
  },
  'aws-jwt-verify': {
    name: 'aws-jwt-verify',
    checks: 'signature, `iss`, `aud`, times',
    create({ issuer, audience, key }) {
      const verifier = JwtVerifier.create(
        { issuer, audience, jwksUri: `${issuer}/jwks` },
        { jwksCache: new SimpleJwksCache() },
      )
      verifier.cacheJwks({ keys: [key as never] })
      return async (token) => (await verifier.verify(token))['client_id']
    },
  },
  'fast-jwt': {
    name: 'fast-jwt',
    checks: 'signature, `iss`, `aud`, times, `typ`',
    create: (given) => fastJwt(given, false),
  },
  'fast-jwt-cached': {
    name: 'fast-jwt with `cache`',
    checks: 'signature, `iss`, `aud`, times, `typ`; again after 10 minutes',
    create: (given) => fastJwt(given, 10_000),
  },
} as const satisfies Record<string, JwtLibrary>

/** It takes the key itself, because it loads no key sets. */
function fastJwt({ issuer, audience, key }: GivenIssuer, cache: number | false): VerifyJwt {
  const pem = createPublicKey({ key: key as JsonWebKey, format: 'jwk' }).export({
    type: 'spki',
    format: 'pem',
  })
  const verify = createVerifier({
    key: String(pem),
    algorithms: ['RS256'],
    allowedIss: issuer,
    allowedAud: audience,
    checkTyp: 'at+jwt',
    cache,
  }) as (token: string) => Record<string, unknown>
  return async (token) => verify(token)['client_id']
}

export type JwtLibraryId = keyof typeof jwtLibraries
export const jwtLibraryIds = Object.keys(jwtLibraries) as JwtLibraryId[]
