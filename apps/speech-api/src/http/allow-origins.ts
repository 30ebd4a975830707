import cors from '@fastify/cors'
import type { FastifyInstance } from 'fastify'

/**
 * Lets pages of some origins call the API from a browser, and read what its refusals say.
 *
 * @throws {TypeError} if one of them is no origin
 */
export function allowOrigins(server: FastifyInstance, origins: readonly string[]): void {
  if (origins.length === 0) return
  for (const origin of origins) {
    if (URL.parse(origin)?.origin !== origin) {
      throw new TypeError(
        `An allowed origin is written as https://app.example, without a path, not "${origin}".`,
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
