import { randomBytes } from 'node:crypto'
import session from 'express-session'
import type { Request, RequestHandler } from 'express'
import {
  type CanActivate,
  Controller,
  type ExecutionContext,
  HttpCode,
  Injectable,
  Post,
  Req,
  UnauthorizedException,
} from '@nestjs/common'

declare module 'express-session' {
  interface SessionData {
    startedAt: number
  }
}

/** Keeps sessions in memory, until the process exits. Several processes need a shared store. */
export function sessions(): RequestHandler {
  return session({
    name: 'speech-to-text',
    secret: randomBytes(32).toString('hex'),
    resave: false,
    saveUninitialized: false,
    rolling: true,
    cookie: { httpOnly: true, sameSite: 'strict', secure: 'auto', maxAge: 8 * 3600_000 },
  })
}

/** A real application logs the user in here. */
function startSession(request: Request): Promise<void> {
  return new Promise((resolve, reject) => {
    // A new ID prevents session fixation.
    request.session.regenerate((error: unknown) => {
      if (error) return reject(error)
      request.session.startedAt = Date.now()
      resolve()
    })
  })
}

/**
 * Rejects requests that other sites make a browser send. `SameSite` cookies are not sent from other sites, but they are
 * from other ports and subdomains of the same site.
 */
export function sameOriginOnly(): RequestHandler {
  return (request, response, next) => {
    const { origin, host, 'sec-fetch-site': site } = request.headers
    const sameSite = site === undefined || site === 'same-origin' || site === 'none'
    const sameOrigin = origin === undefined || (URL.canParse(origin) && new URL(origin).host === host)
    if (request.method === 'GET' || request.method === 'HEAD' || (sameSite && sameOrigin)) return next()
    const message = 'Requests from other origins are not allowed.'
    response.status(403).json({ error: { code: 'cross_origin', message } })
  }
}

/** Allows only requests with a session. */
@Injectable()
export class SessionGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { session } = context.switchToHttp().getRequest<Request>()
    if (session.startedAt !== undefined) return true
    throw new UnauthorizedException({
      error: { code: 'session_expired', message: 'Your session has expired. Start a new one.' },
    })
  }
}

@Controller('api/sessions')
export class SessionsController {
  @Post()
  @HttpCode(204)
  async start(@Req() request: Request): Promise<void> {
    if (request.session.startedAt === undefined) await startSession(request)
  }
}
