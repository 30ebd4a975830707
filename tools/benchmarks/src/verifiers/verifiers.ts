import express from 'express'
import type { RequestHandler } from 'express'
import inject from 'light-my-request'
import Fastify from 'fastify'
import type { FastifyInstance } from 'fastify'
import { createTokenVerifier, type TokenVerifier } from '@tokenwell/resource-server'
import { requireToken } from '@tokenwell/resource-server/express'
import { resourceServer } from '@tokenwell/resource-server/fastify'
import fastifyJwt from '@fastify/jwt'
import { createRemoteJWKSet, exportSPKI } from 'jose'
import { auth } from 'express-oauth2-jwt-bearer'

/** What a verifier needs to accept a token: an issuer with one key, and its own access token. */
export interface Given {
  readonly issuer: string
  readonly audience: string
  readonly jwt: string
}

/** An API with an open and a protected route, `/open` and `/protected`, called without a network. */
export interface ProtectedApi {
  call(path: '/open' | '/protected', token: string): Promise<number>
  /** The token to call it with. */
  readonly token: string
}

export interface Verifier {
  readonly name: string
  readonly framework: 'Express' | 'Fastify'
  /** What it checks at each request. */
  readonly checks: string
  open(given: Given): Promise<ProtectedApi>
}

export function expressApi(protect: RequestHandler, token: string): ProtectedApi {
  const app = express().disable('x-powered-by').disable('etag')
  const respond: RequestHandler = (_request, response) => void response.end('ok')
  app.get('/open', respond)
  app.get('/protected', protect, respond)
  const dispatch = app as unknown as inject.DispatchFunc
  return {
    token,
    async call(url, value) {
      return (await inject(dispatch, { url, headers: { authorization: `Bearer ${value}` } })).statusCode
    },
  }
}

export async function fastifyApi(
  protect: (routes: FastifyInstance) => Promise<void>,
  token: string,
): Promise<ProtectedApi> {
  const app = Fastify()
  app.get('/open', async () => 'ok')
  await app.register(async (routes) => {
    await protect(routes)
    routes.get('/protected', async () => 'ok')
  })
  await app.ready()
  return {
    token,
    async call(url, value) {
      return (await app.inject({ url, headers: { authorization: `Bearer ${value}` } })).statusCode
    },
  }
}

const opaque = 'A0b1C2d3E4f5G6h7I8j9K0l1M2n3O4p5Q6r7S8t9U0v'

/** Introspects without a network; the scenario measures cached results. */
function introspecting(): TokenVerifier {
  return createTokenVerifier({
    introspection: {
      authUrl: 'http://localhost',
      clientId: 'api',
      clientSecret: 'secret',
      cacheMs: 3_600_000,
    },
    fetch: async (_url, init) => {
      const active = new URLSearchParams(init?.body as URLSearchParams).get('token') === opaque
      return Response.json({ active, client_id: 'client', api_products: ['orders'] })
    },
  })
}

const signatures = ({ issuer, audience }: Given): TokenVerifier =>
  createTokenVerifier({ issuer, audience, jwksUrl: `${issuer}/jwks` })

/** In the order of the page. */
export const verifiers = {
  'express-introspection': {
    name: '@tokenwell/resource-server, opaque token',
    framework: 'Express',
    checks: 'a result that is at most 10 s old, expiry, products',
    open: async () => expressApi(requireToken(introspecting(), { products: ['orders'] }), opaque),
  },
  'express-jwt': {
    name: '@tokenwell/resource-server, JWT',
    framework: 'Express',
    checks: 'a result that is at most 10 s old, expiry, scopes',
    open: async (given) =>
      expressApi(requireToken(signatures(given), { scopes: ['orders:read'] }), given.jwt),
  },
  'express-oauth2-jwt-bearer': {
    name: 'express-oauth2-jwt-bearer',
    framework: 'Express',
    checks: 'signature and claims',
    open: async ({ issuer, audience, jwt }) =>
      expressApi(auth({ issuer, audience, jwksUri: `${issuer}/jwks`, tokenSigningAlg: 'RS256' }), jwt),
  },
  'fastify-introspection': {
    name: '@tokenwell/resource-server, opaque token',
    framework: 'Fastify',
    checks: 'a result that is at most 10 s old, expiry, products',
    open: () =>
      fastifyApi(async (routes) => {
        await routes.register(resourceServer, { verifier: introspecting(), products: ['orders'] })
      }, opaque),
  },
  'fastify-jwt-ours': {
    name: '@tokenwell/resource-server, JWT',
    framework: 'Fastify',
    checks: 'a result that is at most 10 s old, expiry, scopes',
    open: (given) =>
      fastifyApi(async (routes) => {
        await routes.register(resourceServer, { verifier: signatures(given), scopes: ['orders:read'] })
      }, given.jwt),
  },
  'fastify-jwt': {
    name: '@fastify/jwt',
    framework: 'Fastify',
    checks: 'signature and claims',
    open: (given) => fastifyApi((routes) => withFastifyJwt(routes, given, false), given.jwt),
  },
  'fastify-jwt-cached': {
    name: '@fastify/jwt with `cache`',
    framework: 'Fastify',
    checks: 'a result that is at most 10 minutes old, expiry',
    open: (given) => fastifyApi((routes) => withFastifyJwt(routes, given, true), given.jwt),
  },
} as const satisfies Record<string, Verifier>

export type VerifierId = keyof typeof verifiers
export const verifierIds = Object.keys(verifiers) as VerifierId[]

/** It requires the key itself, because it loads no key sets. */
async function withFastifyJwt(
  routes: Parameters<Parameters<typeof fastifyApi>[0]>[0],
  { issuer, audience }: Given,
  cache: boolean,
): Promise<void> {
  const key = await createRemoteJWKSet(new URL(`${issuer}/jwks`))({ alg: 'RS256' })
  await routes.register(fastifyJwt, {
    secret: { public: await exportSPKI(key) },
    verify: { algorithms: ['RS256'], allowedIss: issuer, allowedAud: audience, cache },
  })
  routes.addHook('onRequest', async (request) => {
    await request.jwtVerify()
  })
}
