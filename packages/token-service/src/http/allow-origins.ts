import type { FastifyInstance } from 'fastify'

/**
 * Allows pages of other origins, such as browser-based API tools, to send requests (CORS). Their credentials are in the
 * request itself, never in cookies.
 */
export async function allowOrigins(server: FastifyInstance, origins: readonly string[]): Promise<void> {
  if (origins.length === 0) return
  const { default: cors } = await import('@fastify/cors')
  await server.register(cors, {
    origin: origins.includes('*') ? '*' : [...origins],
    methods: ['GET', 'POST'],
    allowedHeaders: ['authorization', 'content-type'],
    exposedHeaders: ['retry-after', 'www-authenticate'],
    maxAge: 600,
  })
}
