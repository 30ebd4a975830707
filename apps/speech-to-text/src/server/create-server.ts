import 'reflect-metadata'
import type { Server } from 'node:http'
import { fileURLToPath } from 'node:url'
import { NestFactory } from '@nestjs/core'
import type { NestExpressApplication } from '@nestjs/platform-express'
import compression from 'compression'
import type { RequestHandler } from 'express'
import helmet from 'helmet'
import { sameOriginOnly, sessions } from './session.ts'
import type { ServerSettings } from './page-settings.controller.ts'
import { serverModule } from './server.module.ts'

export interface ServerOptions {
  /** Creates the handler that serves the page during development. By default the built files are served. */
  readonly servePage?: ((server: Server) => Promise<RequestHandler>) | undefined
}

/** Creates the server of the page, which does not listen yet: static files, sessions, tokens and transcriptions. */
export async function createServer(
  settings: ServerSettings,
  { servePage }: ServerOptions = {},
): Promise<NestExpressApplication> {
  const server = await NestFactory.create<NestExpressApplication>(serverModule(settings), {
    logger: ['error', 'warn'],
    abortOnError: false,
    // A page that follows the token status must not prevent the server from closing.
    forceCloseConnections: true,
  })
  server.enableShutdownHooks()
  server.use(compression())
  server.use(helmet(servePage ? { contentSecurityPolicy: false } : contentPolicy(settings)))
  server.use('/api', sameOriginOnly(), sessions())
  if (servePage) server.use(except('/api', await servePage(server.getHttpServer())))
  else server.useStaticAssets(fileURLToPath(new URL('../page', import.meta.url)))
  return server
}

function except(prefix: string, handler: RequestHandler): RequestHandler {
  return (request, response, next) =>
    request.path.startsWith(`${prefix}/`) ? next() : handler(request, response, next)
}

function contentPolicy({ speechUrl }: ServerSettings): Parameters<typeof helmet>[0] {
  return {
    contentSecurityPolicy: {
      directives: {
        connectSrc: ["'self'", new URL(speechUrl).origin, 'blob:'],
        mediaSrc: ["'self'", 'blob:'],
        // The waveform uses inline styles.
        styleSrc: ["'self'", "'unsafe-inline'"],
        upgradeInsecureRequests: null,
      },
    },
  }
}
