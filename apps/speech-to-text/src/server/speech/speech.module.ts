import { Module } from '@nestjs/common'
import { TokenHttpModule } from '@tokenwell/nestjs-module/axios'
import { speechApi } from '../settings.ts'
import { TokenStatusModule } from '../token-status/token-status.module.ts'
import { JobOwners } from './job-owners.ts'
import { SpeechService } from './speech.service.ts'
import { TranscriptionsController } from './transcriptions.controller.ts'

@Module({
  imports: [TokenHttpModule.registerAsync(speechApi.asProvider()), TokenStatusModule],
  controllers: [TranscriptionsController],
  providers: [SpeechService, JobOwners],
})
export class SpeechModule {}
