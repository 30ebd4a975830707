import cors from '@fastify/cors'
import type { FastifyInstance } from 'fastify'

/**
 * Allows pages of these origins to call the API (CORS) and to read the headers of its responses.
 *
 * @throws {TypeError} if one of them is not an origin
 */
export function allowOrigins(server: FastifyInstance, origins: readonly string[]): void {
  if (origins.length === 0) return
  for (const origin of origins) {
    if (URL.parse(origin)?.origin !== origin) {
      throw new TypeError(
        `"${origin}" is not a valid origin. Set only scheme, host and port, such as https://app.example.com.`,
      )
    }
  }
  server.register(cors, {
    origin: [...origins],
    methods: ['GET', 'POST', 'DELETE'],
    allowedHeaders: ['Authorization', 'Content-Type', 'Prefer'],
    exposedHeaders: ['WWW-Authenticate', 'Retry-After', 'Location'],
    maxAge: 600,
  })
}
