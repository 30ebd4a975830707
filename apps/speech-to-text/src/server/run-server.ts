import type { Server } from 'node:http'
import { fileURLToPath } from 'node:url'
import { NestFactory } from '@nestjs/core'
import type { NestExpressApplication } from '@nestjs/platform-express'
import compression from 'compression'
import type { RequestHandler } from 'express'
import getPort, { portNumbers } from 'get-port'
import helmet from 'helmet'
import 'reflect-metadata'
import { ConfigurationError, connectionFromEnvironment, environmentOf } from '../platform/connection.ts'
import { describeError } from '../platform/describe-error.ts'
import { AppModule } from './app.module.ts'
import { sameOriginOnly, sessions } from './session.ts'
import { settings, speechApi, type SpeechApi } from './settings.ts'

const host = '127.0.0.1'

/** Starts the server, and a platform unless environment variables specify one; prints the URL of the page. */
export async function runServer(options?: ServerOptions): Promise<void> {
  try {
    const port = await choosePort(process.env['PORT'])
    await provideSettings(port)
    const server = await createServer(options)
    await server.listen(port, host)
    process.stdout.write(`http://${host}:${port}\n`)
  } catch (error) {
    const message = describeError(error)
    if (message === undefined) throw error
    process.stderr.write(`${message}\n`)
    process.exitCode = 1
  }
}

/** Starts all services on this machine unless the environment names some, and sets the variables that name them. */
async function provideSettings(port: number): Promise<void> {
  if (connectionFromEnvironment(process.env)) {
    // Nest would log the error of a missing variable with its stack.
    for (const read of settings) read()
    return
  }
  const { startLocalPlatform } = await import('../platform/start-local-platform.ts')
  const pageOrigins = [`http://${host}:${port}`, `http://localhost:${port}`]
  Object.assign(process.env, environmentOf(await startLocalPlatform({ pageOrigins })))
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

/** Creates the application that the environment variables specify. It does not listen yet. */
export async function createServer(options?: ServerOptions): Promise<NestExpressApplication> {
  const server = await NestFactory.create<NestExpressApplication>(AppModule, {
    logger: ['error', 'warn'],
    abortOnError: false,
    // A page that follows the token status must not prevent the server from closing.
    forceCloseConnections: true,
  })
  return configureServer(server, options)
}

/** Adds what is outside of Nest's modules: compression, headers, sessions, and the files of the page. */
export async function configureServer(
  server: NestExpressApplication,
  { servePage }: ServerOptions = {},
): Promise<NestExpressApplication> {
  const { baseURL } = server.get<SpeechApi>(speechApi.KEY)
  server.enableShutdownHooks()
  server.use(compression())
  server.use(helmet(servePage ? { contentSecurityPolicy: false } : contentPolicy(baseURL)))
  server.use('/api', sameOriginOnly(), sessions())
  if (servePage) server.use(except(['/api', '/health'], await servePage(server.getHttpServer())))
  else server.useStaticAssets(fileURLToPath(new URL('../page', import.meta.url)))
  return server
}

function except(prefixes: readonly string[], handler: RequestHandler): RequestHandler {
  return (request, response, next) =>
    prefixes.some((prefix) => `${request.path}/`.startsWith(`${prefix}/`))
      ? next()
      : handler(request, response, next)
}

function contentPolicy(speechUrl: string): Parameters<typeof helmet>[0] {
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
