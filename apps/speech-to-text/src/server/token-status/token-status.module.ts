import { Module } from '@nestjs/common'
import { TokenStatusController } from './token-status.controller.ts'
import { TokenStatusService } from './token-status.service.ts'
import { TrialsController } from './trials.controller.ts'

/** Shows the page what happens to the token of the server. */
@Module({
  controllers: [TokenStatusController, TrialsController],
  providers: [TokenStatusService],
  exports: [TokenStatusService],
})
export class TokenStatusModule {}
