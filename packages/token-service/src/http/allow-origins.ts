import cors, { type FastifyCorsOptions } from '@fastify/cors'
import type { FastifyInstance, RouteHandlerMethod } from 'fastify'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What the plugin uses instead of its own options for this route. */
    cors?: FastifyCorsOptions
  }
}

/**
 * Allows pages of other origins, such as browser-based API tools, to send requests (CORS). Their credentials are in the
 * request itself, never in cookies.
 */
export async function allowOrigins(server: FastifyInstance, origins: readonly string[]): Promise<void> {
  await server.register(cors, {
    origin: origins.includes('*') ? '*' : origins.length > 0 && [...origins],
    methods: ['GET', 'POST'],
    allowedHeaders: ['authorization', 'content-type', 'dpop'],
    exposedHeaders: ['retry-after', 'www-authenticate'],
    maxAge: 600,
  })
}

/** A document that everybody may read, the pages of every origin included; {@link allowOrigins} comes first. */
export function publicDocument(server: FastifyInstance, url: string, handler: RouteHandlerMethod): void {
  const options = { origin: '*', methods: ['GET', 'HEAD'], allowedHeaders: '*', strictPreflight: false }
  const config = { cors: options }
  server.get(url, { config }, handler)
  // The plugin responds before the handler.
  server.options(url, { config }, () => undefined)
}
