import { Controller, HttpCode, Post, Req } from '@nestjs/common'
import type { Request } from 'express'
import { startSession } from './session.ts'

@Controller('api/sessions')
export class SessionsController {
  @Post()
  @HttpCode(204)
  async start(@Req() request: Request): Promise<void> {
    if (request.session.startedAt === undefined) await startSession(request)
  }
}
