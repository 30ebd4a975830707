import { Injectable, UnauthorizedException, type CanActivate, type ExecutionContext } from '@nestjs/common'
import type { Request } from 'express'

/** Lets only sessions in. */
@Injectable()
export class SessionGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { session } = context.switchToHttp().getRequest<Request>()
    if (session.startedAt !== undefined) return true
    throw new UnauthorizedException({
      error: { code: 'session_ended', message: 'Your session has ended: start a new one.' },
    })
  }
}
