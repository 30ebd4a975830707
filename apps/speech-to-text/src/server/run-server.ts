import type { Server } from 'node:http'
import { fileURLToPath } from 'node:url'
import { NestFactory } from '@nestjs/core'
import type { NestExpressApplication } from '@nestjs/platform-express'
import compression from 'compression'
import type { RequestHandler } from 'express'
import getPort from 'get-port'
import { portNumbers } from 'get-port'
import helmet from 'helmet'
import 'reflect-metadata'
import { ConfigurationError } from '../platform/connection.ts'
import { describeError } from '../platform/describe-error.ts'
import { findPlatform } from '../platform/find-platform.ts'
import type { ServerSettings } from './page-settings.controller.ts'
import { serverModule } from './server.module.ts'
import { sameOriginOnly, sessions } from './session.ts'

const host = '127.0.0.1'

/** Starts the server, and a platform unless environment variables specify one; prints the URL of the page. */
export async function runServer(options?: ServerOptions): Promise<void> {
  try {
    const port = await choosePort(process.env['PORT'])
    const platform = await findPlatform(process.env, {
      pageOrigins: [`http://${host}:${port}`, `http://localhost:${port}`],
    })
    const server = await createServer(platform, options)
    await server.listen(port, host)
    process.stdout.write(`http://${host}:${port}\n`)
  } catch (error) {
    const message = describeError(error)
    if (message === undefined) throw error
    process.stderr.write(`${message}\n`)
    process.exitCode = 1
  }
}

async function choosePort(requested: string | undefined): Promise<number> {
  if (!requested) return getPort({ port: portNumbers(3000, 3099), host })
  const port = Number(requested)
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new ConfigurationError('PORT must be a whole number from 1 to 65535.')
  }
  if ((await getPort({ port, host })) !== port)
    throw new ConfigurationError(`Port ${port} is in use. Set PORT to another one.`)
  return port
}

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
