import { Injectable, UnauthorizedException, type CanActivate, type ExecutionContext } from '@nestjs/common'
import type { Request } from 'express'

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
