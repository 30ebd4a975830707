import 'reflect-metadata'
import type { Server } from 'node:http'
import { fileURLToPath } from 'node:url'
import { Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import type { NestExpressApplication } from '@nestjs/platform-express'
import { credentialsFrom, isTokenError } from '@tokenwell/core'
import { TokenModule } from '@tokenwell/nestjs-module'
import compression from 'compression'
import type { RequestHandler } from 'express'
import getPort, { portNumbers } from 'get-port'
import helmet from 'helmet'
import { AppModule } from '../nest/app.module.ts'
import { SpeechModule } from '../nest/speech.module.ts'
import { findPlatform, SettingsError } from '../platform/find-platform.ts'
import { PAGE_CLIENT, PageController } from './page.controller.ts'

/** The NestJS application, with what the page needs beside it: the tokens of a separate application, among others. */
@Module({
  imports: [
    AppModule,
    SpeechModule,
    TokenModule.forRootAsync({
      name: PAGE_CLIENT,
      useFactory: () => credentialsFrom(process.env, { prefix: 'PAGE_' }),
    }),
  ],
  controllers: [PageController],
})
class PageModule {}

/** Creates the handler that serves the page during development. By default the built files are served. */
export type ServePage = (server: Server) => Promise<RequestHandler>

/** Starts the server, and a platform unless environment variables name one; prints the URL of the page. */
export async function runServer(servePage?: ServePage): Promise<void> {
  const { HOST: host = '127.0.0.1', PORT } = process.env
  try {
    const port = await choosePort(PORT, host)
    const origins = [`http://${host}:${port}`, `http://localhost:${port}`]
    const { environment } = await findPlatform(process.env, origins)
    Object.assign(process.env, environment)
    // Nest would log the error of a missing variable with its stack.
    for (const prefix of ['', 'PAGE_']) credentialsFrom(process.env, { prefix })
    const server = await createServer(servePage)
    await server.listen(port, host)
    process.stdout.write(`http://${host}:${port}\n`)
  } catch (error) {
    if (!isTokenError(error) && !(error instanceof SettingsError)) throw error
    process.stderr.write(`${error.message}\n`)
    process.exitCode = 1
  }
}

async function choosePort(requested: string | undefined, host: string): Promise<number> {
  if (!requested) return getPort({ port: portNumbers(3000, 3099), host })
  const port = Number(requested)
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    throw new SettingsError('PORT must be a whole number from 1 to 65535.')
  if ((await getPort({ port, host })) !== port)
    throw new SettingsError(`Port ${port} is in use. Set PORT to another one.`)
  return port
}

/** Creates the application that the environment variables specify. It does not listen yet. */
export async function createServer(servePage?: ServePage): Promise<NestExpressApplication> {
  const server = await NestFactory.create<NestExpressApplication>(PageModule, {
    logger: ['error', 'warn'],
    abortOnError: false,
    forceCloseConnections: true, // a page follows the token status over a connection that does not end
  })
  server.enableShutdownHooks()
  server.setGlobalPrefix('api')
  server.use(compression())
  server.use(helmet(servePage ? { contentSecurityPolicy: false } : contentPolicy(process.env['SPEECH_URL']!)))
  server.use('/api', sameOriginOnly())
  if (!process.env['SANDBOX_URL']) server.use('/api/trials', notFound)
  if (servePage) server.use(exceptApi(await servePage(server.getHttpServer())))
  else server.useStaticAssets(fileURLToPath(new URL('../page', import.meta.url)))
  return server
}

/** Rejects requests that pages of other origins make a browser send. */
function sameOriginOnly(): RequestHandler {
  return ({ method, headers }, response, next) => {
    const { origin, host, 'sec-fetch-site': site = 'none' } = headers
    const isSame = ['same-origin', 'none'].includes(site) && (!origin || URL.parse(origin)?.host === host)
    if (method === 'GET' || isSame) return next()
    const message = 'Requests from other origins are not allowed.'
    response.status(403).json({ error: { code: 'cross_origin', message } })
  }
}

const notFound: RequestHandler = (_request, response) => void response.sendStatus(404)

function exceptApi(handler: RequestHandler): RequestHandler {
  return (request, response, next) =>
    request.path.startsWith('/api/') ? next() : handler(request, response, next)
}

function contentPolicy(speechUrl: string): Parameters<typeof helmet>[0] {
  return {
    contentSecurityPolicy: {
      directives: {
        connectSrc: ["'self'", new URL(speechUrl).origin, 'blob:'],
        mediaSrc: ["'self'", 'blob:'],
        styleSrc: ["'self'", "'unsafe-inline'"], // the waveform uses inline styles
        upgradeInsecureRequests: null,
      },
    },
  }
}
