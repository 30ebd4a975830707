import type { FastifyInstance, FastifyRequest, RegisterOptions } from 'fastify'
import fp from 'fastify-plugin'
import {
  checkRequirements,
  type FindUser,
  type RequireTokenOptions,
  type TokenRequirements,
  type VerifiedToken,
} from './checks/requirements.ts'
import { logFailure } from './http/failure-log.ts'
import { credentialsOf, NodeRequestFacts } from './http/node-request.ts'
import { TokenVerificationError } from './http/token-verification-error.ts'
import { metadataHeaders } from './verifier/resource-metadata.ts'
import type { TokenVerifier } from './verifier/token-verifier.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The verified access token; null on routes with `accessToken: false`, and where it is optional and missing. */
    accessToken: VerifiedToken | null
  }
  interface FastifyContextConfig {
    /** What this route's token must cover besides what the plugin requires; false for a public route. */
    accessToken?: RouteRequirements | false
  }
}

type RouteRequirements = TokenRequirements & Pick<RequireTokenOptions<FastifyRequest>, 'optional'>

const nothing: RouteRequirements = {}

/** What every token in this scope must cover, and what verifies it. */
export interface ResourceServerPluginOptions extends RequireTokenOptions<FastifyRequest> {
  readonly verifier: TokenVerifier
  /** Finds `request.user`, after everything that is required has been checked. */
  readonly user?: FindUser<FastifyRequest> | undefined
}

/**
 * A Fastify plugin: all routes of the scope that registers it require a valid access token, before their body is read.
 * With the option `resource` of the verifier, it also serves the API's metadata (RFC 9728), if no scope around it does.
 *
 * @example
 * app.register(resourceServer, { verifier })
 * app.get('/orders', { config: { accessToken: { products: ['orders'] } } }, listOrders)
 */
export const resourceServer = fp<ResourceServerPluginOptions>(protectRoutes, {
  name: '@tokenwell/resource-server',
  fastify: '5.x',
})

async function protectRoutes(
  fastify: FastifyInstance,
  {
    verifier,
    clientCertificate,
    optional = false,
    user,
    ...others
  }: ResourceServerPluginOptions & RegisterOptions,
): Promise<void> {
  const { prefix: _, logLevel: _level, logSerializers: _serializers, ...requirements } = others
  checkRequirements(requirements)
  const checked = new WeakSet<object>()
  const checkRoute = (route: RouteRequirements) => {
    if (checked.has(route)) return
    const { optional: _optional, ...required } = route
    checkRequirements(required)
    checked.add(route)
  }
  if (user && !fastify.hasRequestDecorator('user')) fastify.decorateRequest('user', null)
  if (!fastify.hasRequestDecorator('accessToken')) fastify.decorateRequest('accessToken', null)
  const { resourceMetadata: metadata } = verifier
  if (metadata && fastify.prefix === '' && !fastify.hasRoute({ url: metadata.path, method: 'GET' })) {
    fastify.get(metadata.path, { config: { accessToken: false } }, (_request, reply) =>
      reply.headers(metadataHeaders).send(metadata.document),
    )
  }
  fastify.addHook('onRoute', ({ config }) => {
    if (config?.accessToken) checkRoute(config.accessToken)
  })
  fastify.addHook('onRequest', async (request, reply) => {
    const route = request.routeOptions.config.accessToken ?? nothing
    if (route === false) return
    // It may have been added before this plugin was loaded.
    checkRoute(route)
    let found: unknown
    try {
      const token = await verifier.verify(credentialsOf(request.raw), {
        ...requirements,
        and: [route],
        optional: route.optional ?? optional,
        findUser: user && (async (verified) => (found = await user(verified, request))),
        request: new NodeRequestFacts<FastifyRequest>(request, clientCertificate, request.raw),
      })
      if (token) request.accessToken = token
      if (found !== undefined) (request as { user?: unknown }).user = found
    } catch (error) {
      if (!(error instanceof TokenVerificationError)) throw error
      // Without a logger, Fastify has one that has no level and writes nothing.
      const hasLogger = 'level' in request.log
      logFailure(error, hasLogger ? (level, text, details) => request.log[level](details, text) : undefined)
      return reply.code(error.status).headers(error.headers).send(error.body)
    }
  })
}
